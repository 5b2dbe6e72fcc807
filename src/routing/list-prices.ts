import type { PriceBook, PriceDescription } from "../pricing/index.ts";
import type { UpstreamRoute } from "./router.ts";

/** The price of a model as people write it, with its origin. */
export interface ListPrice extends Pick<PriceDescription, "prices" | "layer"> {
  /** With prefix. */
  id: string;
  source: string | null;
  made: string | null;
}

/** So many of the ids after this one. */
export interface PricePage {
  after?: string | undefined;
  limit: number;
}

/** The prices in force, before markup, of the models that a layer names, by their ids. Only those of the page are made. */
export function listPrices(
  routes: readonly UpstreamRoute[],
  book: PriceBook,
  { after = "", limit }: PricePage = { limit: Infinity },
): ListPrice[] {
  const named = routes.flatMap(({ prefix, provider: { priceProvider } }) =>
    book.namesOf({ prefix, priceProvider }).map((model) => ({ id: `${prefix}/${model}`, model, priceProvider })),
  );
  const rest = named.filter(({ id }) => id > after).toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const listed: ListPrice[] = [];
  for (const each of rest) {
    if (listed.length >= limit) break;
    const found = book.describe(each);
    if (found === undefined) continue;
    const { source = null, made = null, ...description } = found;
    listed.push({ id: each.id, ...description, source, made });
  }
  return listed;
}
