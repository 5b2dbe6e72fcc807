import { priceKeys, priceUnits } from "../../src/core/index.ts";
import { table } from "../shared/markdown.ts";

const begin = '<!-- Written by "npm run generate" from src/core/price-units.ts: -->';
const end = "<!-- End of the generated table. -->";

/** The README with its list of price keys as the table of units has it. Throws where the list has lost its marks. */
export function withPriceList(readme: string): string {
  const [before, rest, ...more] = readme.split(begin);
  const [, after, ...later] = rest?.split(end) ?? [];
  if (before === undefined || after === undefined || more.length + later.length > 0) {
    throw new Error(`README.md needs these two lines around its price keys, once:\n${begin}\n${end}`);
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
