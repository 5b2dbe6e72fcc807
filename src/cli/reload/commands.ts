import { hostname } from "node:os";
import type { Command } from "commander";
import { checkRouting } from "../../app/routing.ts";
import { openStorage } from "../../app/storage.ts";
import { loadConfig } from "../../config/index.ts";
import { randomId } from "../../core/index.ts";
import { type Node, openNodeStore, THERE_MS_MAX } from "../../nodes/index.ts";
import type { Storage } from "../../storage/index.ts";
import { type CommonOptions, UsageError, withCommonOptions } from "../options.ts";
import { printJson, printLine } from "../print.ts";
import { environment, openNamedStorage } from "../state.ts";
import type { ReloadOutcome } from "./reloader.ts";

/** How long a reload may take: workers are waited for. */
const RELOAD_MS_MAX = 60_000;
const LOOK_MS = 50;

const ID_CHARACTERS = 12;

interface ReloadOptions extends CommonOptions {
  force?: boolean;
  all?: boolean;
}

export function addConfigCommands(program: Command): void {
  const config = program.command("config").description("check the configuration, and reload that of a running gateway");
  config
    .command("check")
    .description("check a configuration file with all that it names; needs no storage")
    .argument("[file]", "the config file (default: $TOLLGATE_CONFIG, else tollgate.yaml)")
    .option("--json", "print JSON")
    .action(check);
  withCommonOptions(
    config
      .command("reload")
      .description("let the running gateway read its configuration again, at once on all workers"),
  )
    .option("--force", "remove providers even if stored answers, files or jobs need them")
    .option("--all", "on all nodes of the storage, not only on those of this machine")
    .action(reload);
}

async function check(file: string | undefined, { json }: Pick<CommonOptions, "json">): Promise<void> {
  const loaded = loadConfig({ file, variables: process.env });
  const notes: string[] = [];
  const note = (_fields: object, message: string): void => void notes.push(message);
  const logger = { info: () => undefined, warn: note, error: note, flush: () => undefined };
  const storage = await openStorage("sqlite::memory:");
  try {
    await checkRouting(loaded, { storage, environment, logger });
  } finally {
    await storage.close();
  }
  const without = [...loaded.missingKeys].map(([prefix, variable]) => ({ provider: prefix, set: variable }));
  const shown = loaded.file ?? null;
  if (json === true) return printJson({ file: shown, ok: true, providers_without_key: without, notes });
  printLine(`${shown ?? "the defaults"}: valid`);
  for (const { provider, set } of without) printLine(`  ${provider} is not routed: set ${set}`);
  for (const each of notes) printLine(`  ${each}`);
}

async function reload(options: ReloadOptions): Promise<void> {
  // The gateway reads the configuration: here, a mistake in it matters only to find the storage.
  const storage = await openNamedStorage(options);
  let outcomes: NodeOutcome[];
  try {
    outcomes = await reloadNodes(storage, options);
  } finally {
    await storage.close();
  }
  if (outcomes.some(({ ok }) => !ok)) process.exitCode = 1;
  if (options.json === true) return printJson(outcomes);
  for (const { node, ok, error, changed, need_restart: needRestart } of outcomes) {
    printLine(`${node}: ${ok ? `reloaded (${changed.join(", ") || "nothing has changed"})` : `refused: ${error}`}`);
    if (needRestart.length > 0) printLine(`  needs a restart: ${needRestart.join(", ")}`);
  }
}

interface NodeOutcome extends ReloadOutcome {
  node: string;
}

async function reloadNodes(storage: Storage, { force = false, all = false }: ReloadOptions): Promise<NodeOutcome[]> {
  const store = openNodeStore(storage);
  const seen = await store.seenSince(environment.clock() - THERE_MS_MAX);
  const nodes = all ? seen : seen.filter(isHere);
  if (nodes.length === 0) {
    const elsewhere = seen.map(({ name }) => name).join(", ");
    throw new UsageError(
      `no gateway of this storage runs ${all ? "anywhere" : "on this machine"}${elsewhere === "" ? "" : `; there are ${elsewhere}: --all`}`,
    );
  }
  return Promise.all(
    nodes.map(async (node) => {
      const asked = { id: randomId(environment.randomBytes, ID_CHARACTERS), force };
      await store.ask(node.name, asked);
      // Another machine's node sees the request within seconds.
      if (isHere(node)) signal(node.pid, "SIGHUP");
      return { node: node.name, ...(await outcomeOf(node, asked.id)) };
    }),
  );

  async function outcomeOf({ name }: Node, id: string): Promise<ReloadOutcome> {
    const until = performance.now() + RELOAD_MS_MAX;
    while (performance.now() < until) {
      const row = (await store.seenSince(0)).find((each) => each.name === name);
      if (row?.outcome?.id === id) return row.outcome.result as unknown as ReloadOutcome;
      await Bun.sleep(LOOK_MS);
    }
    return { ok: false, changed: [], need_restart: [], error: "no answer in time; its log may have the reason" };
  }
}

/** Whether the node is a living process of this machine. */
function isHere({ host, pid }: Node): boolean {
  return host === hostname() && signal(pid, 0);
}

/** Whether there is such a process. One of another user gets no signal, and sees the request within seconds. */
function signal(pid: number, name: "SIGHUP" | 0): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch (thrown) {
    return thrown instanceof Error && "code" in thrown && thrown.code === "EPERM";
  }
}
