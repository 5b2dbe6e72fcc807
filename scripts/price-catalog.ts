/**
 * `npm run prices`: generates the built-in price catalog from the published tables and our corrections, and prints
 * if the tables disagree. `--litellm VERSION` takes that version instead of the newest one; `--out FILE` writes to that file,
 * to be published for gateways whose `pricing.catalog` names its address.
 *
 * `--compare` writes nothing: it asks a gateway with the built-in catalog for the cost of every price in LiteLLM's table, lists the
 * differences with their reasons, and exits with 1 if one has none.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compareWithLitellm } from "./price-catalog/compare/compare.ts";
import { downloadLitellm } from "./price-catalog/download-litellm.ts";
import { formatCatalog } from "./price-catalog/format.ts";
import { makeCatalog } from "./price-catalog/make-catalog.ts";
import { printReport } from "./price-catalog/report.ts";
import { root } from "./shared/steps.ts";

const { values } = parseArgs({
  options: { litellm: { type: "string" }, out: { type: "string" }, compare: { type: "boolean", default: false } },
});
const litellm = await downloadLitellm(values.litellm);
if (values.compare) process.exitCode = (await compareWithLitellm(litellm)) ? 0 : 1;
else {
  const manifest: unknown = await Bun.file(join(root, "node_modules/@pydantic/genai-prices/package.json")).json();
  const genaiPricesVersion = String((manifest as { version: unknown }).version);
  const made = makeCatalog({ litellm, genaiPricesVersion, at: Date.now() });
  printReport(made);
  writeFileSync(values.out ?? join(root, "src/pricing/catalog/catalog.json"), formatCatalog(made.catalog));
}
