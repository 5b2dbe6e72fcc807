import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import type { PeopleDifference } from "../../accounts/index.ts";
import { GatewayError } from "../../core/index.ts";
import { printAnswer, withAct, withServer } from "../admin/admin-command.ts";
import { askAdmin, type AskOptions } from "../admin/ask-admin.ts";
import { UsageError } from "../options.ts";
import { printLine } from "../print.ts";
import { intoSecretFile } from "./secret-file.ts";

interface ApplyOptions extends AskOptions {
  tokens?: string;
}

export function addPeopleCommands(program: Command): void {
  const people = program.command("people").description("many users at once, from a file");
  withAct(withServer(people.command("apply").description("create and change the users of a file, all or none")))
    .argument("<file>", "CSV with a line of column names, or JSON: { people: [] }")
    .option("--tokens <file>", "a new file for the secrets of new tokens")
    .action(apply);
}

async function apply(file: string, options: ApplyOptions): Promise<void> {
  const { body, contentType, makesTokens } = await read(file);
  const { tokens, dryRun = false } = options;
  const ask = (): Promise<PeopleDifference> => askAdmin(options, { route: "put /admin/v1/people", body, contentType });
  if (dryRun || tokens === undefined) {
    if (!dryRun && makesTokens)
      throw new UsageError("--tokens: name a new file for the secrets, which are shown only once");
    return printAnswer(await ask(), options, print);
  }
  const difference = await intoSecretFile({ option: "--tokens", file: tokens }, ask, csvOf);
  // The file has the secrets; a terminal keeps what it has shown.
  const shown = { ...difference, tokens: difference.tokens.map((issued) => ({ ...issued, token: null })) };
  printAnswer(shown, options, print);
}

/** The file, once it is checked: a mistake in it costs no request. */
async function read(file: string) {
  let body: Uint8Array;
  try {
    body = await readFile(file);
  } catch (cause) {
    throw new UsageError(`${file} can't be read`, { cause });
  }
  const form = /^\s*\{/.test(Buffer.from(body.subarray(0, 64)).toString()) ? "json" : "csv";
  const { readPeople } = await import("../../http/admin/index.ts");
  try {
    const makesTokens = readPeople(body, form).people.some(({ token }) => token === true);
    return { body, contentType: form === "json" ? "application/json" : "text/csv", makesTokens };
  } catch (thrown) {
    throw thrown instanceof GatewayError ? new UsageError(`${file}: ${thrown.message}`) : thrown;
  }
}

function csvOf({ tokens }: PeopleDifference): string {
  const lines = tokens.map(({ name, token_id: id, token }) => `${name},${id},${token}\n`);
  return `name,token_id,token\n${lines.join("")}`;
}

function print(difference: PeopleDifference, { dryRun, tokens: file }: ApplyOptions): void {
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
