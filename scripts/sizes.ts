/**
 * Checks the sizes of what src/ contains: lines and nesting of functions, lines and members of classes, and the number of
 * casts. scripts/sizes/limits.ts has the limits.
 *
 *     bun scripts/sizes.ts         what is above its limit; exits with 1 if anything is
 *     bun scripts/sizes.ts --list  everything above a limit, excepted or not, and the place of every cast
 */
import { readSources } from "./shared/source-files.ts";
import { root } from "./shared/steps.ts";
import { checkSizes, listSizes } from "./sizes/check-sizes.ts";

const sources = await readSources(root);
if (process.argv.includes("--list")) {
  for (const line of listSizes(sources)) console.log(line);
} else {
  const findings = checkSizes(sources);
  for (const finding of findings) console.error(finding);
  process.exitCode = findings.length > 0 ? 1 : 0;
}
