/**
 * `bun scripts/extract-schemas.ts OWNER DOCUMENT`: writes `test/schemas/OWNER.json` from an OpenAPI document of that
 * provider (JSON or YAML). `test/schemas/README.md` lists the source of each document.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { extractSchemas, writeSchemas } from "./schemas/extract.ts";
import { isOwner, roots } from "./schemas/roots.ts";
import { root } from "./shared/steps.ts";

const [owner, document] = process.argv.slice(2);
if (document === undefined || !isOwner(owner)) {
  console.error(`usage: bun scripts/extract-schemas.ts {${Object.keys(roots).join("|")}} DOCUMENT`);
  process.exit(1);
}

const text = readFileSync(document, "utf8");
const parsed: unknown = text.trimStart().startsWith("{") ? JSON.parse(text) : Bun.YAML.parse(text);
writeFileSync(join(root, "test/schemas", `${owner}.json`), writeSchemas(extractSchemas(parsed, roots[owner])));
