import type { Command } from "commander";
import { createModelList } from "../../app/routing/routing.ts";
import { createLogger } from "../../telemetry/index.ts";
import { addModelPricesCommand } from "./prices.ts";
import { type CommonOptions, withCommonOptions } from "../options.ts";
import { printJson, printTable } from "../print.ts";
import { startSandbox } from "../sandbox.ts";
import { environment, readConfig } from "../state.ts";

interface ModelsOptions extends CommonOptions {
  sandbox?: boolean;
}

export function addModelsCommand(program: Command): void {
  const command = program.command("models").description("list the models of the routed providers");
  withCommonOptions(command)
    .option("--sandbox", "list the simulators' models for providers without a key")
    .action(models);
  addModelPricesCommand(command);
}

async function models(options: ModelsOptions): Promise<void> {
  const { config, missingKeys } = readConfig(options);
  const sandbox = options.sandbox === true ? await startSandbox() : undefined;
  const list = createModelList({
    config,
    missingKeys,
    sandbox: sandbox?.routesOf({ config, missingKeys }) ?? new Map(),
    environment,
    logger: createLogger(config.log),
  });
  const listed = await list.list();
  sandbox?.stop();
  const rows = listed.map(({ route, model }) => ({
    id: `${route.prefix}/${model.id}`,
    context_length: model.contextLength ?? null,
  }));
  if (options.json === true) return printJson(rows);
  printTable(
    ["MODEL", "CONTEXT"],
    rows.map((row) => [row.id, String(row.context_length ?? "")]),
  );
}
