/**
 * Checks the sizes of what src/ contains: lines and nesting of functions, lines and members of classes, and the number of
 * casts. scripts/sizes/limits.ts has the limits. Usage: `bun scripts/sizes.ts`.
 */
import { readSources } from "./shared/source-files.ts";
import { root } from "./shared/steps.ts";
import { checkSizes } from "./sizes/check-sizes.ts";

const findings = checkSizes(await readSources(root));
for (const finding of findings) console.error(finding);
process.exitCode = findings.length > 0 ? 1 : 0;
