import { readFile, writeFile } from "node:fs/promises";
import type { Command } from "commander";
import { stringify } from "yaml";
import { importAccounts, type ImportOutcome } from "../../accounts/index.ts";
import { loadConfig, parseYaml } from "../../config/index.ts";
import { importConfig, type ImportedConfig, planAccounts, readDatabase } from "../../litellm/index.ts";
import { type CommonOptions, reasonOption, UsageError, withCommonOptions } from "../options.ts";
import { printJson } from "../print.ts";
import { environment, withState } from "../state.ts";
import { printReport, type Report } from "./report.ts";

interface ImportOptions extends CommonOptions {
  database?: string;
  write?: string;
  prepaid?: boolean;
  dryRun?: boolean;
  reason?: string;
}

export function addImportCommands(program: Command): void {
  const imports = program
    .command("import")
    .description("take over the configuration and the accounts of another gateway");
  withCommonOptions(imports.command("litellm").description("from LiteLLM; a second run changes nothing"))
    .argument("<file>", "LiteLLM's configuration")
    .option("--write <file>", "a new file for the configuration that it becomes")
    .option(
      "--database <url>",
      "LiteLLM's database, postgres://…, which is only read: its accounts get into the storage",
    )
    .option("--prepaid", "limit the imported organisations by granted credits, of which they have none at first")
    .option("--dry-run", "change nothing, and report the same")
    .option("--reason <text>", "why, for the audit log", reasonOption("--reason"))
    .action(importLitellm);
}

async function importLitellm(file: string, options: ImportOptions): Promise<void> {
  const imported = read(await readInput(file), file);
  const text = textOf(imported, file);
  check(text);
  const { write, database, dryRun = false } = options;
  const accounts = database === undefined ? undefined : await takeAccounts(imported, database, options);
  if (write !== undefined && !dryRun) await writeNew(write, text);
  const report: Report = {
    file: write ?? null,
    written: write !== undefined && !dryRun,
    dry_run: dryRun,
    variables: imported.newVariables,
    findings: imported.findings.all,
    accounts: accounts ?? null,
  };
  if (options.json === true) return printJson(report);
  printReport(report);
}

async function readInput(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new UsageError(`${file} can't be read`, { cause });
  }
}

function read(text: string, file: string): ImportedConfig {
  try {
    return importConfig(parseYaml(text, file));
  } catch (thrown) {
    throw thrown instanceof TypeError ? new UsageError(`${file}: ${thrown.message}`, { cause: thrown }) : thrown;
  }
}

function textOf({ config }: ImportedConfig, file: string): string {
  const name = file.split(/[/\\]/).at(-1);
  return `# Imported from LiteLLM's ${name}. Keys are read from the environment.\n${stringify(config, { lineWidth: 120 })}`;
}

/** The file must be one that the gateway starts with, whatever the values of its variables are. */
function check(text: string): void {
  const names = [...text.matchAll(/\$\{(\w+)\}/g)].flatMap(([, name]) => name ?? []);
  const variables = Object.fromEntries(names.map((name) => [name, "https://upstream.invalid"]));
  loadConfig({ file: "the imported configuration", text, variables });
}

async function writeNew(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: "wx" });
  } catch (cause) {
    throw new UsageError(`--write: ${file} can't be created, or exists already`, { cause });
  }
}

async function takeAccounts(
  { permits, findings }: ImportedConfig,
  database: string,
  options: ImportOptions,
): Promise<ImportOutcome> {
  if (!/^postgres(ql)?:\/\//.test(database))
    throw new UsageError("--database: write it as postgres://user:password@host/name");
  const { prepaid = false, dryRun = false, reason = "import from LiteLLM" } = options;
  const rows = await readDatabase(database).catch((cause: unknown) => {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  });
  return withState(options, (state) => {
    const { calendar } = state.ledger;
    const plan = planAccounts({ database: rows, permits, findings, prepaid, calendar, at: environment.clock() });
    return importAccounts(state, plan, { dryRun, reason });
  });
}
