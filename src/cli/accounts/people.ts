import { type FileHandle, open, readFile, unlink } from "node:fs/promises";
import type { Command } from "commander";
import { AccountError, applyPeople, type PeopleDifference } from "../../accounts/index.ts";
import { GatewayError } from "../../core/index.ts";
import { type CommonOptions, reasonOption, UsageError, withCommonOptions } from "../options.ts";
import { printJson, printLine } from "../print.ts";
import { withState } from "../state.ts";

interface ApplyOptions extends CommonOptions {
  tokens?: string;
  reason?: string;
  dryRun?: boolean;
}

export function addPeopleCommands(program: Command): void {
  const people = program.command("people").description("many users at once, from a file");
  withCommonOptions(people.command("apply").description("create and change the users of a file, all or none"))
    .argument("<file>", "CSV with a line of column names, or JSON: { people: [] }")
    .option("--tokens <file>", "a new file for the secrets of new tokens")
    .option("--dry-run", "show the difference, and change nothing")
    .option("--reason <text>", "why, for the audit log", reasonOption("--reason"))
    .action(apply);
}

async function apply(file: string, options: ApplyOptions): Promise<void> {
  const { people, reason } = await read(file);
  const { tokens, dryRun = false } = options;
  const context = { reason: options.reason ?? reason, dryRun };
  if (dryRun) return print(await withState(options, (state) => applyPeople(state, people, context)), options);
  if (tokens === undefined) {
    if (people.some(({ token }) => token === true))
      throw new UsageError("--tokens: name a new file for the secrets, which are shown only once");
    return print(await withState(options, (state) => applyPeople(state, people, context)), options);
  }
  const secrets = await create(tokens);
  try {
    const difference = await withState(options, (state) => applyPeople(state, people, context));
    await secrets.writeFile(csvOf(difference));
    await secrets.sync();
    // The file has the secrets; a terminal keeps what it has shown.
    print({ ...difference, tokens: difference.tokens.map((issued) => ({ ...issued, token: null })) }, options);
  } catch (thrown) {
    if ((await secrets.stat()).size === 0) await unlink(tokens);
    throw thrown;
  } finally {
    await secrets.close();
  }
}

async function read(file: string) {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(file);
  } catch (cause) {
    throw new UsageError(`${file} can't be read`, { cause });
  }
  const { readPeople } = await import("../../http/index.ts");
  try {
    return readPeople(bytes, /^\s*\{/.test(Buffer.from(bytes.subarray(0, 64)).toString()) ? "json" : "csv");
  } catch (thrown) {
    throw thrown instanceof GatewayError ? new AccountError(`${file}: ${thrown.message}`, thrown.code) : thrown;
  }
}

/** Before anything is changed: no secret without a place, and no file lost. */
async function create(file: string): Promise<FileHandle> {
  try {
    return await open(file, "wx", 0o600);
  } catch (cause) {
    throw new UsageError(`--tokens: ${file} can't be created, or exists already`, { cause });
  }
}

function csvOf({ tokens }: PeopleDifference): string {
  const lines = tokens.map(({ name, token_id: id, token }) => `${name},${id},${token}\n`);
  return `name,token_id,token\n${lines.join("")}`;
}

function print(difference: PeopleDifference, { json, dryRun, tokens: file }: ApplyOptions): void {
  if (json === true) return printJson({ object: "people", ...difference });
  const { created, changed, moved, unchanged, tokens } = difference;
  for (const name of created) printLine(`+ ${name}`);
  for (const { name, before, after } of changed) {
    const members = Object.keys(before).map(
      (member) => `${member} ${JSON.stringify(before[member])} → ${JSON.stringify(after[member])}`,
    );
    printLine(`~ ${name}: ${members.join(", ")}`);
  }
  for (const { name, from, to } of moved) printLine(`> ${name}: ${from ?? "none"} → ${to ?? "none"}`);
  const counts = `${created.length} created, ${changed.length} changed, ${moved.length} moved, ${unchanged.length} unchanged, ${tokens.length} tokens`;
  printLine(dryRun === true ? `It would be: ${counts}.` : `${counts}${tokens.length > 0 ? ` in ${file}` : ""}.`);
}
