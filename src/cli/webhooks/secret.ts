import type { Command } from "commander";
import { findHolderState } from "../../accounts/index.ts";
import { createWebhookSecrets } from "../../app/webhooks.ts";
import { type CommonOptions, nameOption, reasonOption, withCommonOptions } from "../options.ts";
import { printJson, printLine } from "../print.ts";
import { environment, withState } from "../state.ts";

interface SecretOptions extends CommonOptions {
  user: string;
  rotate?: boolean;
  reason?: string;
}

export function addWebhooksCommands(program: Command): void {
  const webhooks = program.command("webhooks").description("the secrets that sign webhooks");
  withCommonOptions(webhooks.command("secret").description("make a user's webhook secret and print it once"))
    .requiredOption("--user <name>", "whose webhooks it signs, by name or id", nameOption("--user"))
    .option("--rotate", "replace the secret; the previous one signs as well for 24 hours")
    .option("--reason <text>", "why, for the audit log", reasonOption("--reason"))
    .action(secret);
}

async function secret(options: SecretOptions): Promise<void> {
  const { user, rotate = false, reason } = options;
  const { made, holder } = await withState(options, async (state) => {
    const { holder: found } = await findHolderState(state, { kind: "user", name: user });
    const secrets = createWebhookSecrets({ ...state, config: state.loaded.config, environment });
    const act = { actor: state.caller.actor, reason };
    return { made: await (rotate ? secrets.rotate(found.id, act) : secrets.make(found.id, act)), holder: found };
  });
  const until = made.previousUntil === undefined ? null : new Date(made.previousUntil).toISOString();
  if (options.json === true) {
    return printJson({ user: holder.name, user_id: holder.id, secret: made.secret, previous_signs_until: until });
  }
  printLine(made.secret);
  // On stderr, as with tokens: the output contains nothing but the secret.
  const previous = until === null ? "" : ` The previous one signs as well until ${until}.`;
  console.error(`It is shown only now. Webhook secret of ${holder.name}.${previous}`);
}
