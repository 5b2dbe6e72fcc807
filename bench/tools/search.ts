/** Searches over the tools of many servers: by words that few, many and all of them have. */
import { ToolIndex } from "../../src/tools/index.ts";
import { Samples } from "../load/samples.ts";
import { randomFrom } from "../pages/corpus.ts";

export interface ToolSearchFigures {
  tools: number;
  /** Milliseconds of a search, of all queries. */
  p50: number;
  /** The query that takes most CPU, in milliseconds a search: other work on the machine does not change it much. */
  slowest: { query: string; ms: number };
}

const servers = 20;
const toolsOfServer = 500;
const hits = 10;

const verbs = "create update delete list get search send read write move copy archive restore approve merge".split(" ");
const nouns = (
  "issue branch commit file folder message channel user team project invoice payment ticket order product customer event " +
  "calendar page document record table metric alert dashboard deployment container image secret"
).split(" ");

/** The last three have words of every tool alone. */
const queries = [
  "issue",
  "create an issue",
  "create an issue in the project of a customer",
  "deploy container secrets quickly",
  "write customer branch find move get list",
  "json",
  "returns json fields",
  "use this tool by id or name with json fields and limit and cursor",
];

export async function measureToolSearch(searches: number): Promise<ToolSearchFigures> {
  const index = new ToolIndex();
  await index.update(new Map(Array.from({ length: servers }, (_, at) => [`server-${at}`, listOf(at)])));
  const all = new Samples();
  let slowest = { query: "", ms: 0 };
  for (const query of queries) {
    for (let count = 0; count < searches / 4; count += 1) search(index, query);
    const before = process.cpuUsage();
    for (let count = 0; count < searches; count += 1) {
      const begun = performance.now();
      search(index, query);
      all.add(performance.now() - begun);
    }
    const { user, system } = process.cpuUsage(before);
    const ms = (user + system) / 1_000 / searches;
    if (!(ms <= slowest.ms)) slowest = { query, ms };
  }
  return { tools: servers * toolsOfServer, p50: all.spread()?.p50 ?? Number.NaN, slowest };
}

function search(index: ToolIndex, query: string): void {
  let found = 0;
  for (const { tool } of index.search(query)) {
    if (tool === "") throw new Error("a tool without a name");
    if ((found += 1) === hits) return;
  }
  throw new Error(`too few tools for ${query}`);
}

function listOf(server: number) {
  const random = randomFrom(server);
  const one = (words: readonly string[]): string => words[Math.floor(random() * words.length)] ?? "";
  return new Map(
    Array.from({ length: toolsOfServer }, (_, at) => {
      const [verb, noun] = [one(verbs), one(nouns)];
      const name = `${verb}_${noun}_${at}`;
      const description =
        `Will ${verb} the ${noun} of a ${one(nouns)}, by its id or name, and returns json with all of its fields. ` +
        `Use this tool to ${one(verbs)} the ${one(nouns)}.`;
      const properties = { id: {}, name: {}, [`${noun}Id`]: {}, limit: {}, cursor: {} };
      return [name, { definition: { name, description, inputSchema: { type: "object", properties } } }];
    }),
  );
}
