import { open, rename, rm } from "node:fs/promises";
import type { Command } from "commander";
import { withServer } from "../admin/admin-command.ts";
import { type AskOptions, readAdmin } from "../admin/ask-admin.ts";
import { choiceOption, nameOption, UsageError } from "../options.ts";
import { printLine } from "../print.ts";
import { type CallFilterOptions, withPeriod } from "./call-filters.ts";
import { momentText } from "./moments.ts";

const kinds = ["usage", "generations", "entries", "audit"] as const;

interface ExportOptions
  extends AskOptions, Pick<CallFilterOptions, "since" | "until" | "organisation" | "user" | "project" | "token"> {
  format?: "csv" | "jsonl" | "focus";
  output?: string;
}

export function addExportCommand(program: Command): void {
  const command = withServer(
    program.command("export").description("all usage, calls, entries or rows of the audit log of a time, a row a line"),
  )
    .argument("<what>", kinds.join(", "), choiceOption("what", kinds))
    .option(
      "--format <name>",
      "csv, jsonl (--json is the same), or of usage focus: FOCUS 1.0 (default: csv)",
      choiceOption("--format", ["csv", "jsonl", "focus"] as const),
    )
    .option("--output <file>", "write a file, which has its name once it is complete, in place of the output");
  withPeriod(command, "30d")
    .option("--organisation <name>", "its rows only; not of the audit log", nameOption("--organisation"))
    .option("--user <name>", "their rows only", nameOption("--user"))
    .option("--project <name>", "its rows only", nameOption("--project"))
    .option("--token <id>", "its rows only")
    .action(exportRows);
}

async function exportRows(what: (typeof kinds)[number], options: ExportOptions): Promise<void> {
  const { format, json, since, until, organisation, user, project, token, output } = options;
  if (json === true && format !== undefined && format !== "jsonl") throw new UsageError("--json: is --format jsonl");
  const query = {
    what,
    format: json === true ? "jsonl" : format,
    from: momentText(since),
    to: momentText(until),
    organisation,
    user,
    project,
    token,
  };
  await readAdmin(options, { route: "get /admin/v1/exports", query }, ({ body }) => {
    const bytes = body ?? new ReadableStream<Uint8Array>();
    return output === undefined ? print(bytes) : write(bytes, output);
  });
}

/** Waits for a reader that is slower than the storage. */
async function print(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const part of bytes)
    if (!process.stdout.write(part)) await new Promise((resolve) => process.stdout.once("drain", resolve));
}

/** Half a file has another name, and is removed. */
async function write(bytes: AsyncIterable<Uint8Array>, name: string): Promise<void> {
  const part = `${name}.part`;
  const file = await open(part, "w", 0o600);
  try {
    for await (const each of bytes) await file.writeFile(each);
    await file.sync();
    await file.close();
    await rename(part, name);
  } catch (reason) {
    await file.close().catch(() => undefined);
    await rm(part, { force: true });
    throw reason;
  }
  printLine(`${name} is written.`);
}
