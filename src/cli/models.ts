import type { Command } from "commander";
import { createApp } from "../app.ts";
import { createLogger } from "../telemetry/index.ts";
import { type CommonOptions, withCommonOptions } from "./options.ts";
import { printJson, printTable } from "./print.ts";
import { startSandbox } from "./sandbox.ts";
import { environment, withState } from "./state.ts";
import { version } from "./version.ts";

interface ModelsOptions extends CommonOptions {
  sandbox?: boolean;
}

export function addModelsCommand(program: Command): void {
  withCommonOptions(program.command("models").description("list the models of the routed providers"))
    .option("--sandbox", "list the simulators' models for providers without a key")
    .action(models);
}

async function models(options: ModelsOptions): Promise<void> {
  const rows = await withState(options, async ({ loaded, storage }) => {
    const sandbox = options.sandbox === true ? await startSandbox(loaded) : undefined;
    const app = createApp({
      config: loaded.config,
      missingKeys: loaded.missingKeys,
      sandbox: sandbox?.routes ?? new Map(),
      storage,
      environment,
      logger: createLogger({ level: loaded.config.log.level }),
      version,
      address: "",
    });
    const listed = await app.models.list();
    await app.drain();
    sandbox?.stop();
    return listed.map(({ route, model }) => ({
      id: `${route.prefix}/${model.id}`,
      context_length: model.contextLength ?? null,
    }));
  });
  if (options.json === true) return printJson(rows);
  printTable(
    ["MODEL", "CONTEXT"],
    rows.map((row) => [row.id, String(row.context_length ?? "")]),
  );
}
