/**
 * `npm run test:live -- [--config FILE] [--spend CREDITS] [--model ID]… [--clients] [--record FOLDER]`: calls real providers with
 * the operator's keys. Exits with 1 if a play fails.
 */
import { parseArgs } from "node:util";
import { runLive } from "./run.ts";

const { values } = parseArgs({
  options: {
    config: { type: "string" },
    spend: { type: "string", default: "0.25" },
    model: { type: "string", multiple: true, default: [] },
    clients: { type: "boolean", default: false },
    record: { type: "string" },
  },
});

try {
  const report = await runLive({
    config: values.config,
    spend: values.spend,
    models: values.model,
    record: values.record,
    runsClients: values.clients,
    onResult: ({ title, failure }) => {
      console.log(failure === undefined ? `✓ ${title}` : `✗ ${title}: ${failure.slice(0, 500)}`);
    },
  });
  for (const reason of report.skipped) console.log(`not recorded: ${reason}`);
  if (values.record !== undefined) console.log(`${report.written} answers recorded in ${values.record}`);
  console.log(`${report.spent} of ${values.spend} credits spent`);
  console.log(`${report.passed} passed, ${report.failed} failed`);
  process.exitCode = report.failed === 0 ? 0 : 1;
} catch (reason) {
  console.error(reason instanceof Error ? reason.message : String(reason));
  process.exitCode = 2;
}
