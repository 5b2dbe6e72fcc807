import type { Command } from "commander";
import type { Actor } from "../../audit/index.ts";
import { BatchDirectory } from "../../batches/index.ts";
import { type CommonOptions, countOption, reasonOption, textOption, withCommonOptions } from "../options.ts";
import { printJson, printLine, printTable } from "../print.ts";
import { environment, withState } from "../state.ts";

interface ListOptions extends CommonOptions {
  user?: string;
  after?: string;
  limit?: number;
}

/** Batches that a list has unless its `--limit` is another. */
const LISTED = 100;

export function addBatchesCommands(program: Command): void {
  const batches = program.command("batches").description("batches of calls, of all users");
  withCommonOptions(batches.command("list").description("list batches by their ids, the oldest first"))
    .option("--user <id>", "of the user with this id alone", textOption("--user"))
    .option("--after <id>", "the batch before the list", textOption("--after"))
    .option("--limit <number>", `at most this many (default: ${LISTED})`, countOption("--limit"))
    .action(list);
  withCommonOptions(batches.command("show").description("show a batch").argument("<id>", "its id")).action(show);
  withCommonOptions(
    batches.command("cancel").description("begin no further line of a batch").argument("<id>", "its id"),
  )
    .option("--reason <text>", "why, for the audit log", reasonOption("--reason"))
    .action(cancel);
}

type Batch = NonNullable<Awaited<ReturnType<BatchDirectory["find"]>>>;

const time = (at: number | undefined): string | null => (at === undefined ? null : new Date(at).toISOString());

/** Without its metadata and its addresses, which are its user's. */
function shown(batch: Batch) {
  const { id, owner, tokenId, endpoint, model, status, total, succeeded, failed, cancelled, expired } = batch;
  return {
    id,
    user_id: owner,
    token_id: tokenId,
    endpoint,
    model: model ?? null,
    status,
    lines: { total, succeeded, failed, cancelled, expired },
    created_at: time(batch.createdAt),
    expires_at: time(batch.expiresAt),
    ended_at: time(batch.endedAt),
  };
}

async function list(options: ListOptions): Promise<void> {
  const { user: owner, after = "", limit = LISTED } = options;
  const found = await withDirectory(options, (directory) => directory.list({ owner, after, limit }));
  if (options.json === true) return printJson({ data: found.map(shown) });
  printTable(
    ["ID", "USER", "ENDPOINT", "STATUS", "LINES", "ENDED WELL", "CREATED"],
    found.map(({ id, owner: user, endpoint, status, total, succeeded, createdAt }) => [
      id,
      user,
      endpoint,
      status,
      String(total),
      String(succeeded),
      new Date(createdAt).toISOString(),
    ]),
  );
}

async function show(id: string, options: CommonOptions): Promise<void> {
  const found = await withDirectory(options, (directory) => directory.find(id));
  if (found === undefined) throw new Error(`there is no batch ${id}`);
  printJson(shown(found));
}

async function cancel(id: string, options: CommonOptions & { reason?: string }): Promise<void> {
  const isCancelled = await withDirectory(options, async (directory, actor) => {
    if ((await directory.find(id)) === undefined) throw new Error(`there is no batch ${id}`);
    return directory.cancel(id, { actor, reason: options.reason });
  });
  if (options.json === true) return printJson({ id, cancelled: isCancelled });
  printLine(isCancelled ? `${id} begins no further line.` : `${id} has ended, or ends by now.`);
}

function withDirectory<Result>(
  options: CommonOptions,
  use: (directory: BatchDirectory, actor: Actor) => Promise<Result>,
): Promise<Result> {
  return withState(options, (state) => {
    const directory = new BatchDirectory({ storage: state.storage, log: state.log, clock: environment.clock });
    return use(directory, state.caller.actor);
  });
}
