import type { Command } from "commander";
import { migrateStorage, planStorage } from "../app/storage.ts";
import type { SchemaPlan } from "../storage/index.ts";
import { type CommonOptions, UsageError, withCommonOptions } from "./options.ts";
import { printJson, printLine } from "./print.ts";
import { storageUrlOf } from "./state.ts";

interface MigrateOptions extends CommonOptions {
  plan?: boolean;
  apply?: boolean;
}

export function addMigrateCommand(program: Command): void {
  withCommonOptions(
    program
      .command("migrate")
      .description("migrate the storage's schema to that of this version, beside running gateways"),
  )
    .option("--plan", "show the steps that are missing, and change nothing")
    .option("--apply", "apply them")
    .action(migrate);
}

async function migrate(options: MigrateOptions): Promise<void> {
  if ((options.plan === true) === (options.apply === true)) throw new UsageError("migrate: either --plan or --apply");
  const url = storageUrlOf(options);
  const plans = await planStorage(url);
  if (options.apply === true) await migrateStorage(url);
  if (options.json === true) return printJson({ applied: options.apply === true, places: plans.map(planJson) });
  for (const plan of plans) printPlan(plan, options.apply === true);
}

function planJson({ place, now, after, missing }: SchemaPlan) {
  return {
    place,
    version: now.version,
    oldest: now.oldest,
    next_version: after.version,
    next_oldest: after.oldest,
    steps: missing.map(({ sql, oldest }, index) => ({ version: now.version + index + 1, oldest, sql })),
  };
}

function printPlan({ place, now, after, missing }: SchemaPlan, isApplied: boolean): void {
  if (missing.length === 0) return printLine(`${place}: schema ${now.version}, no step is missing`);
  printLine(`${place}: schema ${now.version} ${isApplied ? "was migrated" : "would be migrated"} to ${after.version}`);
  if (!isApplied) for (const { sql } of missing) printLine(sql.trim());
  if (now.version > 0) printLine(verdict(now.version, after.oldest));
}

const verdict = (version: number, oldest: number): string =>
  oldest <= version
    ? "  Gateways of the version that made it so far go on, and start again."
    : "  Gateways of the version that made it so far do not start any more; on SQLite, running ones stop charging and refuse calls.";
