import { providerPresets } from "../../src/config/index.ts";
import { priceKeys, priceUnits } from "../../src/core/index.ts";
import { between, table } from "../shared/markdown.ts";

const priceKeysBegin = '<!-- Written by "npm run generate" from src/core/price-units.ts: -->';
const presetsBegin = '<!-- Written by "npm run generate" from src/config/provider.ts: -->';
const priceKeysEnd = "<!-- End of the generated table. -->";
const presetsEnd = "<!-- End of the generated list. -->";

/**
 * Returns docs/configuration.md with the list of presets and the table of price keys regenerated. Throws if the markers
 * around one are missing.
 */
export function withConfigurationLists(document: string): string {
  return between(between(document, presetsBegin, presetsEnd, presetList()), priceKeysBegin, priceKeysEnd, priceList());
}

function presetList(): string {
  const names = providerPresets.map((name) => `\`${name}\``);
  return `Presets of \`openai-compatible\`: ${names.join(", ")}.`;
}

function priceList(): string {
  const rows = priceKeys.map((key) => {
    const { buys, fallbacks = [] } = priceUnits[key];
    return [`\`${key}\``, buys, fallbacks.map((fallback) => `\`${fallback}\``).join(", else ")];
  });
  return table(["key", "credits for", "if absent, the price is"], rows);
}
