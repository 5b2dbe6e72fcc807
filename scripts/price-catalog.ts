/**
 * `npm run prices`: generates the built-in price catalog from the published tables and our corrections, and prints
 * if the tables disagree. `--litellm VERSION` takes that version instead of the newest one; `--out FILE` writes to that file,
 * to be published for gateways whose `pricing.catalog` names its address.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { downloadLitellm } from "./price-catalog/download-litellm.ts";
import { formatCatalog } from "./price-catalog/format.ts";
import { makeCatalog } from "./price-catalog/make-catalog.ts";
import { printReport } from "./price-catalog/report.ts";
import { root } from "./shared/steps.ts";

const { values } = parseArgs({ options: { litellm: { type: "string" }, out: { type: "string" } } });
const manifest: unknown = await Bun.file(join(root, "node_modules/@pydantic/genai-prices/package.json")).json();
const made = makeCatalog({
  litellm: await downloadLitellm(values.litellm),
  genaiPricesVersion: String((manifest as { version: unknown }).version),
  at: Date.now(),
});
printReport(made);
writeFileSync(values.out ?? join(root, "src/pricing/catalog/catalog.json"), formatCatalog(made.catalog));
