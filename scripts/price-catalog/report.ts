import type { MadeCatalog } from "./make-catalog.ts";

/** Prints what a maintainer should look at: disagreements between the tables, names without a price, and the size. */
export function printReport({ catalog, disagreements, unpriced }: MadeCatalog): void {
  console.log("The tables disagree (the correction or LiteLLM decides):");
  for (const { provider, name, key, litellm, genaiPrices, decidedBy } of disagreements) {
    const [one, other] = [litellm, genaiPrices].map((rate) => JSON.stringify(rate));
    console.log(`  ${provider}/${name} ${key}: litellm ${one}, genai-prices ${other} → ${decidedBy}`);
  }
  console.log(`\nWithout a price: ${unpriced.join(", ")}\n`);
  for (const [id, { models }] of Object.entries(catalog.providers)) {
    const names = Object.values(models).flatMap(({ aliases = [] }) => aliases);
    console.log(`${id}: ${Object.keys(models).length} models, ${names.length} further names`);
  }
}
