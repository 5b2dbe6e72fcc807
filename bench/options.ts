import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const sections = [
  "chat",
  "stream",
  "messages-stream",
  "messages-native",
  "gemini-native",
  "body",
  "messages-body",
  "start-up",
  "ledger",
  "growth",
  "videos",
  "realtime",
  "routes",
  "budgets",
  "pauses",
  "pages",
  "frontier",
  "search",
  "tools",
  "hosted",
  "beside",
  "console",
  "open-loop",
  "open-streams",
  "uploads",
  "extraction",
] as const;
type Section = (typeof sections)[number];

/** The default and the possible cases of a comparison of two checkouts. */
const comparedSections: readonly Section[] = ["chat", "stream", "body"];
const comparableSections: ReadonlySet<Section> = new Set([
  ...comparedSections,
  "messages-stream",
  "messages-native",
  "gemini-native",
  "messages-body",
  "realtime",
]);

export interface Options {
  quick: boolean;
  sections: ReadonlySet<Section>;
  /** Ids of the columns; null for all. */
  proxies: ReadonlySet<string> | null;
  jsonFile: string | null;
  /** Whether the figures of a chat call are written into docs/performance.md and README.md. */
  write: boolean;
  strict: boolean;
  pin: boolean;
  soakMinutes: number | null;
  /** A git revision or the folder of another checkout, to be compared with this one; null for the usual columns. */
  against: string | null;
  /** Null for the default of the measurement. */
  rounds: number | null;
  /** Path of the launcher under test. */
  tollgate: string;
}

export const usage = `npm run bench -- [options]

  --quick            about three minutes: one round, one wave of uploads, no open streams
  --only LIST        of ${sections.join(", ")}
  --proxies LIST     of nginx, tollgate, tollgate-postgres, portkey
  --rounds N         how often each case is measured (3 unless set, 5 with --against, 1 with --quick)
  --against WHAT     instead: the CPU of this checkout over that of another, a git revision or a folder, in turns;
                     --only takes calls and realtime here (${comparedSections.join(", ")} unless set)
  --json FILE        writes all figures as JSON as well
  --write            writes the figures of a chat call, with commit and date, into docs/performance.md and README.md
  --soak MINUTES     instead: Tollgate under mixed callers, some of which hang up; watches its memory
  --strict           exit code 1 when a bar is missed
  --no-pin           lets the proxies use every core
  --tollgate FILE    another launcher than bin/tollgate of this checkout
`;

/** Throws an Error with a line for the user when the command line is wrong. */
export function parseOptions(arguments_: string[]): Options | "help" {
  const { values } = parseArgs({
    args: arguments_,
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      proxies: { type: "string" },
      json: { type: "string" },
      write: { type: "boolean", default: false },
      soak: { type: "string" },
      against: { type: "string" },
      rounds: { type: "string" },
      strict: { type: "boolean", default: false },
      "no-pin": { type: "boolean", default: false },
      tollgate: { type: "string", default: join(import.meta.dirname, "..", "bin", "tollgate") },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  if (values.against !== undefined && (values.soak !== undefined || values.proxies !== undefined)) {
    throw new Error("--against compares two checkouts of Tollgate: it goes with neither --soak nor --proxies");
  }
  return {
    quick: values.quick,
    sections:
      values.against === undefined ? parseSections(values.only, values.quick) : parseComparedSections(values.only),
    proxies: values.proxies === undefined ? null : new Set(values.proxies.split(",")),
    jsonFile: values.json === undefined ? null : resolve(values.json),
    write: values.write,
    strict: values.strict,
    pin: !values["no-pin"],
    soakMinutes: values.soak === undefined ? null : parseMinutes(values.soak),
    against: values.against ?? null,
    rounds: values.rounds === undefined ? null : parseRounds(values.rounds),
    tollgate: resolve(values.tollgate),
  };
}

function parseSections(only: string | undefined, quick: boolean): Set<Section> {
  if (only === undefined) return new Set(sections.filter((section) => !quick || section !== "open-streams"));
  return new Set(only.split(",").map(parseSection));
}

function parseComparedSections(only: string | undefined): Set<Section> {
  const wanted = new Set(only === undefined ? comparedSections : only.split(",").map(parseSection));
  const other = [...wanted].find((section) => !comparableSections.has(section));
  if (other !== undefined)
    throw new Error(`--only: "${other}" is no call and no session, so --against cannot compare it`);
  return wanted;
}

function parseSection(name: string): Section {
  const section = sections.find((known) => known === name);
  if (section === undefined) throw new Error(`--only: "${name}" is none of ${sections.join(", ")}`);
  return section;
}

function parseMinutes(text: string): number {
  const minutes = Number(text);
  if (!(minutes > 0)) throw new Error(`--soak: "${text}" is no number of minutes`);
  return minutes;
}

function parseRounds(text: string): number {
  const rounds = Number(text);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds: "${text}" is no number of rounds`);
  return rounds;
}
