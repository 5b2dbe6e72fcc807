/**
 * The figures of one chat call that README.md names. `npm run bench -- --write` writes them into docs/performance.md, with
 * the commit and the date; `npm run generate` takes them over into README.md, and `npm run check` fails if the two differ.
 */
import { between, table } from "../../scripts/shared/markdown.ts";
import { figuresOf } from "./figures.ts";
import { decimals } from "./format.ts";
import type { Results } from "./results.ts";

/** As they are printed. */
export interface Headline {
  readonly cpuMicroseconds: string;
  /** The median latency that the gateway adds, with one caller. */
  readonly addedMilliseconds: string;
  readonly timesNginx: string;
  readonly timesLessThanPortkey: string;
  readonly commit: string;
  /** `2026-11-22` */
  readonly date: string;
}

const writtenBegin = '<!-- Written by "npm run bench -- --write": -->';
const writtenEnd = "<!-- End of the written figures. -->";
const readmeBegin = '<!-- Written by "npm run generate" from docs/performance.md: -->';
const readmeEnd = "<!-- End of the figures. -->";

/** Each figure's row in docs/performance.md, with its unit. */
const rows: readonly (readonly [key: keyof Headline, label: string, unit: string])[] = [
  ["cpuMicroseconds", "CPU", " µs"],
  ["addedMilliseconds", "added to the median latency, with one caller", " ms"],
  ["timesNginx", "CPU beside nginx's as a plain proxy", " ×"],
  ["timesLessThanPortkey", "CPU beside Portkey's", " × less"],
  ["commit", "commit", ""],
  ["date", "date", ""],
];

/** The rows of the summary that repeat a figure. */
const summaryRows: readonly (readonly [key: keyof Headline, label: string, unit: string])[] = [
  ["timesNginx", "chat, CPU beside nginx's", " ×"],
  ["timesLessThanPortkey", "chat, CPU beside Portkey's", " × less"],
  ["addedMilliseconds", "chat, added p50 with one caller", " ms"],
];

/** The figures of a run. Throws an Error with a line for the user if it has not measured all of them, or wrong answers. */
export function headlineOf(results: Results, commit: string): Headline {
  const chat = results.cases.find(({ name }) => name === "chat");
  const all = chat === undefined ? [] : figuresOf(chat);
  const [tollgate, nginx, portkey] = ["tollgate", "nginx", "portkey"].map((id) =>
    all.find(({ proxyId, problem }) => proxyId === id && problem === null),
  );
  if (tollgate === undefined || nginx === undefined || portkey === undefined) {
    throw new Error("--write needs valid figures of chat for tollgate, nginx and portkey; nothing was written");
  }
  return {
    cpuMicroseconds: decimals(tollgate.cpuMicroseconds, 0),
    addedMilliseconds: decimals(tollgate.oneCaller.p50, 2),
    timesNginx: decimals(tollgate.cpuMicroseconds / nginx.cpuMicroseconds, 1),
    timesLessThanPortkey: decimals(portkey.cpuMicroseconds / tollgate.cpuMicroseconds, 1),
    commit,
    date: results.at.slice(0, 10),
  };
}

/** docs/performance.md with these figures, in its own table and in the summary. Throws if a place for them is missing. */
export function writeHeadline(performance: string, headline: Headline): string {
  const own = between(
    performance,
    writtenBegin,
    writtenEnd,
    table(
      ["a chat call, everything on", ""],
      rows.map(([key, label, unit]) => [label, `${headline[key]}${unit}`]),
    ),
  );
  return summaryRows.reduce((document, [key, label, unit]) => {
    const row = new RegExp(`^(\\| ${label} \\| [^|]* \\| )[^|]*( \\|)$`, "m");
    if (!row.test(document)) throw new Error(`docs/performance.md has no row "${label}" in its summary`);
    return document.replace(row, `$1${headline[key]}${unit}$2`);
  }, own);
}

/** The figures in docs/performance.md. Throws if one is missing, or if its summary names another one. */
export function readHeadline(performance: string): Headline {
  const read = (key: keyof Headline): string => {
    const [, label = "", unit = ""] = rows.find(([each]) => each === key) ?? [];
    const value = new RegExp(`^\\| ${label} \\| (.+)${unit} \\|$`, "m").exec(performance)?.[1];
    if (value === undefined) throw new Error(`docs/performance.md has no row "${label}"; see npm run bench -- --write`);
    return value;
  };
  const headline = {
    cpuMicroseconds: read("cpuMicroseconds"),
    addedMilliseconds: read("addedMilliseconds"),
    timesNginx: read("timesNginx"),
    timesLessThanPortkey: read("timesLessThanPortkey"),
    commit: read("commit"),
    date: read("date"),
  };
  if (writeHeadline(performance, headline) !== performance) {
    throw new Error(
      "docs/performance.md: its summary and its table of a chat call differ; see npm run bench -- --write",
    );
  }
  return headline;
}

/** README.md with the figures of docs/performance.md. Throws if either lacks its place for them. */
export function withHeadline(readme: string, performance: string): string {
  const { cpuMicroseconds, addedMilliseconds, timesNginx, timesLessThanPortkey, commit, date } =
    readHeadline(performance);
  const text = [
    `- **Fast.** A chat call costs ${cpuMicroseconds} µs of CPU and adds ${addedMilliseconds} ms to the median latency, everything on (authentication,`,
    `  durable ledger, log): ${timesNginx} times nginx's CPU as a plain proxy, ${timesLessThanPortkey} times less than Portkey's (\`npm run bench\`,`,
    `  commit ${commit}, ${date}). [All figures](docs/performance.md)`,
  ];
  return between(readme, readmeBegin, readmeEnd, text.join("\n"));
}
