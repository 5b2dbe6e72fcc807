import { Command } from "commander";
import { AccountError } from "../accounts/index.ts";
import { ConfigError } from "../config/index.ts";
import { BooksError } from "../ledger/index.ts";
import { StorageError } from "../storage/index.ts";
import { WebhookError } from "../webhooks/index.ts";
import { addAccountCommands } from "./account.ts";
import { addCreditsCommands } from "./credits.ts";
import { addDoctorCommand } from "./doctor.ts";
import { addLedgerCommands } from "./ledger/commands.ts";
import { addModelsCommand } from "./models/index.ts";
import { UsageError } from "./options.ts";
import { addServeCommand } from "./serve.ts";
import { addSimCommand } from "./sim.ts";
import { addTokenCommands } from "./token.ts";
import { version } from "./version.ts";
import { addWebhooksCommands } from "./webhooks/secret.ts";
import { addWorkerCommand } from "./worker.ts";

const program = new Command("tollgate").description("One HTTP gateway in front of every AI provider.").version(version);
addServeCommand(program);
addTokenCommands(program);
addAccountCommands(program);
addCreditsCommands(program);
addLedgerCommands(program);
addModelsCommand(program);
addWebhooksCommands(program);
addDoctorCommand(program);
addSimCommand(program);
addWorkerCommand(program);

try {
  await program.parseAsync();
} catch (thrown) {
  // An error that the user can fix is one line; any other error is a bug and is shown with its stack.
  const expected = [AccountError, BooksError, ConfigError, StorageError, UsageError, WebhookError].some(
    (kind) => thrown instanceof kind,
  );
  console.error(expected && thrown instanceof Error ? `tollgate: ${thrown.message}` : thrown);
  // Handles that are still open must not keep a failed command running.
  process.exit(1);
}
