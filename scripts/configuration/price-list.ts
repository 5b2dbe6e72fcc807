import { priceKeys, priceUnits } from "../../src/core/index.ts";
import { table } from "../shared/markdown.ts";

const begin = '<!-- Written by "npm run generate" from src/core/price-units.ts: -->';
const end = "<!-- End of the generated table. -->";

/** Returns docs/configuration.md with the table of price keys regenerated from the table of units. Throws if the markers around it are missing. */
export function withPriceList(document: string): string {
  const [before, rest, ...more] = document.split(begin);
  const [, after, ...later] = rest?.split(end) ?? [];
  if (before === undefined || after === undefined || more.length + later.length > 0) {
    throw new Error(`docs/configuration.md needs these two lines around its price keys, once:\n${begin}\n${end}`);
  }
  return `${before}${begin}\n\n${priceList()}\n\n${end}${after}`;
}

function priceList(): string {
  const rows = priceKeys.map((key) => {
    const { buys, fallbacks = [] } = priceUnits[key];
    return [`\`${key}\``, buys, fallbacks.map((fallback) => `\`${fallback}\``).join(", else ")];
  });
  return table(["key", "credits for", "if absent, the price is"], rows);
}
