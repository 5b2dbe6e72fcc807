import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const sections = [
  "chat",
  "stream",
  "messages-stream",
  "messages-native",
  "body",
  "messages-body",
  "start-up",
  "ledger",
  "open-streams",
  "uploads",
] as const;
export type Section = (typeof sections)[number];

export interface Options {
  quick: boolean;
  sections: ReadonlySet<Section>;
  /** Ids of the columns; null for all. */
  proxies: ReadonlySet<string> | null;
  jsonFile: string | null;
  strict: boolean;
  pin: boolean;
  soakMinutes: number | null;
  /** Path of the launcher under test. */
  tollgate: string;
}

export const usage = `npm run bench -- [options]

  --quick            about three minutes: one round, one wave of uploads, no open streams
  --only LIST        of ${sections.join(", ")}
  --proxies LIST     of nginx, tollgate, tollgate-postgres, portkey
  --json FILE        writes all figures as JSON as well
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
      soak: { type: "string" },
      strict: { type: "boolean", default: false },
      "no-pin": { type: "boolean", default: false },
      tollgate: { type: "string", default: join(import.meta.dirname, "..", "bin", "tollgate") },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  return {
    quick: values.quick,
    sections: parseSections(values.only, values.quick),
    proxies: values.proxies === undefined ? null : new Set(values.proxies.split(",")),
    jsonFile: values.json === undefined ? null : resolve(values.json),
    strict: values.strict,
    pin: !values["no-pin"],
    soakMinutes: values.soak === undefined ? null : parseMinutes(values.soak),
    tollgate: resolve(values.tollgate),
  };
}

function parseSections(only: string | undefined, quick: boolean): Set<Section> {
  if (only === undefined) return new Set(sections.filter((section) => !quick || section !== "open-streams"));
  return new Set(only.split(",").map(parseSection));
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
