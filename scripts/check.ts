/** `npm run check`: everything that is judged without running the gateway. Exits 1 when a step fails. */
import { checksAtOnce, checkSteps } from "./shared/check-steps.ts";
import { printResult, runSteps } from "./shared/steps.ts";

const results = await runSteps(checkSteps, checksAtOnce, printResult);
const failed = results.filter(({ passed }) => !passed).map(({ name }) => name);
if (failed.length > 0) {
  console.log(`failed: ${failed.join(", ")} (npm run fix mends format and part of lint)`);
  process.exitCode = 1;
}
