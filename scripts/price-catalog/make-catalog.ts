import { catalogSchema, type PriceCatalog } from "../../src/pricing/index.ts";
import { corrections } from "./corrections/index.ts";
import { groupNames } from "./group-names.ts";
import { knownNames } from "./known-names.ts";
import { type Disagreement, type Merged, mergeProvider } from "./merge.ts";
import { type NamesToFind, readGenaiPrices } from "./read-genai-prices.ts";
import { readLitellm } from "./read-litellm.ts";

/** The dates at the end of models' names, as each provider writes them. */
const dateSuffixes: Readonly<Record<string, PriceCatalog["providers"][string]["date_suffixes"]>> = {
  openai: ["YYYY-MM-DD"],
  anthropic: ["YYYYMMDD"],
  google: ["MM-YYYY", "MM-DD"],
  "x-ai": ["YYYY-MM-DD", "YYYYMMDD", "MMDD"],
  deepseek: ["MMDD"],
  mistral: ["YYMM"],
  byteplus: ["YYMMDD"],
  openrouter: ["YYYYMMDD"],
};

export interface CatalogSources {
  litellm: { version: string; text: string };
  genaiPricesVersion: string;
  /** When the tables were read, in milliseconds since the epoch: the prices of this moment are compared. */
  at: number;
}

export interface MadeCatalog {
  catalog: PriceCatalog;
  disagreements: Disagreement[];
  /** Names without a price: `provider/name`. */
  unpriced: string[];
}

/** Makes the catalog from the published tables and our corrections. Throws if it does not keep the format. */
export function makeCatalog({ litellm, genaiPricesVersion, at }: CatalogSources): MadeCatalog {
  const ids = Object.keys(corrections).toSorted();
  const fromLitellm = readLitellm(litellm.text);
  const namesOf = (id: string): NamesToFind => ({
    known: knownNames[id] ?? [],
    listed: [
      ...(fromLitellm.get(id)?.keys() ?? []),
      ...(corrections[id]?.corrections.flatMap(({ names }) => names) ?? []),
    ],
  });
  const fromGenaiPrices = readGenaiPrices(ids, namesOf);
  const merged = ids.map((provider): [string, Merged] => [
    provider,
    mergeProvider({
      provider,
      at,
      litellm: fromLitellm.get(provider) ?? new Map(),
      genaiPrices: fromGenaiPrices.get(provider) ?? new Map(),
      corrections: corrections[provider] ?? { corrections: [] },
    }),
  ]);
  const providers: [string, unknown][] = merged.map(([id, { models }]) => {
    const suffixes = dateSuffixes[id];
    const own = corrections[id]?.corrections.filter(({ prices }) => prices !== undefined) ?? [];
    const modelOf = (name: string): string | undefined =>
      own.find(({ names }) => names.includes(name))?.names[0] ?? fromGenaiPrices.get(id)?.get(name)?.model;
    return [
      id,
      { ...(suffixes === undefined ? {} : { date_suffixes: suffixes }), models: groupNames(models, modelOf) },
    ];
  });
  const tables = { "@pydantic/genai-prices": genaiPricesVersion, litellm: litellm.version };
  return {
    catalog: catalogSchema.parse({
      format: 1,
      made: new Date(at).toISOString().slice(0, 10),
      tables,
      providers: Object.fromEntries(providers),
    }),
    disagreements: merged.flatMap(([, { disagreements }]) => disagreements),
    unpriced: merged.flatMap(([id, { unpriced }]) => unpriced.map((name) => `${id}/${name}`)),
  };
}
