/**
 * Checks the imports: folders only import from lower levels, providers are independent, and so on. ARCHITECTURE.md
 * describes the rules, scripts/import-rule/layout.ts contains the levels. Usage: `bun scripts/import-rule.ts [ROOT]`.
 */
import { resolve } from "node:path";
import { checkTree } from "./import-rule/check-tree.ts";
import { readSources } from "./shared/source-files.ts";

const root = resolve(process.argv[2] ?? `${import.meta.dir}/..`);
const sources = await readSources(root);
const violations = checkTree(sources);
for (const { path, line, rule, advice } of violations) console.error(`${path}:${line}  ${rule}: ${advice}`);
if (sources.size === 0) console.error(`no TypeScript files under ${root}`);
process.exitCode = violations.length > 0 || sources.size === 0 ? 1 : 0;
