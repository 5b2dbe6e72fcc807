import { Command } from "commander";
import { AccountError } from "../accounts/index.ts";
import { ConfigError } from "../config/index.ts";
import { BooksError } from "../ledger/index.ts";
import { SecretError, StorageError } from "../storage/index.ts";
import { WebhookError } from "../webhooks/index.ts";
import { commands } from "./index.ts";
import { UsageError } from "./options.ts";
import { version } from "../core/index.ts";

/** Not awaited by the module itself: code that waits while it is loaded cannot be compiled ahead. */
async function main(): Promise<void> {
  const program = new Command("tollgate")
    .description("One HTTP gateway in front of every AI provider.")
    .version(version);
  const called = commands[process.argv[2] ?? ""];
  for (const load of called === undefined ? Object.values(commands) : [called]) (await load())(program);
  try {
    await program.parseAsync();
  } catch (thrown) {
    // An error that the user can fix is one line; any other error is a bug and is shown with its stack.
    const expected = [AccountError, BooksError, ConfigError, SecretError, StorageError, UsageError, WebhookError].some(
      (kind) => thrown instanceof kind,
    );
    console.error(expected && thrown instanceof Error ? `tollgate: ${thrown.message}` : thrown);
    // Handles that are still open must not keep a failed command running.
    process.exit(1);
  }
}

void main();
