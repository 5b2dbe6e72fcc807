import type { PriceBook, PriceDescription } from "../pricing/index.ts";
import type { UpstreamRoute } from "./router.ts";

/** The price of a model as people write it, with its origin. */
export interface ListPrice extends Pick<PriceDescription, "prices" | "layer"> {
  /** With prefix. */
  id: string;
  source: string | null;
  made: string | null;
}

/** The prices in force, before markup, of the models that a layer names. */
export function listPrices(routes: readonly UpstreamRoute[], book: PriceBook): ListPrice[] {
  return routes.flatMap(({ prefix, provider: { priceProvider } }) =>
    book.namesOf({ prefix, priceProvider }).flatMap((model): ListPrice[] => {
      const id = `${prefix}/${model}`;
      const found = book.describe({ id, model, priceProvider });
      if (found === undefined) return [];
      const { source = null, made = null, ...description } = found;
      return [{ id, ...description, source, made }];
    }),
  );
}
