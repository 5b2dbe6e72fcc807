import { hostname } from "node:os";
import type { Command } from "commander";
import { createAccounts } from "../../app/accounts.ts";
import { checkRouting } from "../../app/routing/routing.ts";
import { openStorage } from "../../app/storage.ts";
import { loadConfig } from "../../config/index.ts";
import { listOf, objectOf } from "../../core/index.ts";
import { isHere, openNodeStore, reloadNodes, THERE_MS_MAX } from "../../nodes/index.ts";
import { type CommonOptions, reasonOption, UsageError, withCommonOptions } from "../options.ts";
import { printJson, printLine } from "../print.ts";
import { commandActor, environment, openNamedStorage } from "../state.ts";
import type { ReloadOutcome } from "./reloader.ts";

/** How long a reload may take: workers are waited for. */
const RELOAD_MS_MAX = 60_000;
interface ReloadOptions extends CommonOptions {
  force?: boolean;
  all?: boolean;
  url?: string;
  reason?: string;
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
    .option("--url <url>", "ask a gateway for it, with the token in TOLLGATE_TOKEN: on all nodes of its storage")
    .option("--reason <text>", "why, for the audit log", reasonOption("--reason"))
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
  const outcomes = options.url === undefined ? await reloadByStorage(options) : await reloadByUrl(options.url, options);
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

/** The gateway reads the configuration: here, a mistake in it matters only to find the storage. */
async function reloadByStorage({
  force = false,
  all = false,
  reason,
  ...options
}: ReloadOptions): Promise<NodeOutcome[]> {
  const storage = await openNamedStorage(options);
  try {
    const store = openNodeStore(storage);
    const seen = await store.seenSince(environment.clock() - THERE_MS_MAX);
    const nodes = all ? seen : seen.filter(isHere);
    if (nodes.length === 0) {
      const elsewhere = seen.map(({ name }) => name).join(", ");
      throw new UsageError(
        `no gateway of this storage runs ${all ? "anywhere" : "on this machine"}${elsewhere === "" ? "" : `; there are ${elsewhere}: --all`}`,
      );
    }
    const { log } = createAccounts(storage, environment, commandActor());
    const act = { actor: { name: commandActor() }, reason };
    await log.note(act, { act: "config.reload", target: all ? "nodes" : `host:${hostname()}`, after: { force } });
    const { randomBytes } = environment;
    const reloaded = await reloadNodes(nodes, { store, randomBytes, force, waitMsMax: RELOAD_MS_MAX });
    return reloaded.map(({ node, result }) => ({ node, ...(result as unknown as ReloadOutcome) }));
  } finally {
    await storage.close();
  }
}

/** By the admin API, which needs neither the storage nor the configuration here. */
async function reloadByUrl(url: string, { force = false, reason }: ReloadOptions): Promise<NodeOutcome[]> {
  const { TOLLGATE_TOKEN: token = "" } = process.env;
  if (!URL.canParse(url)) throw new UsageError(`--url: "${url}" is no address such as http://127.0.0.1:8787`);
  // On the command line it would be seen by everyone on the machine.
  if (token === "") throw new UsageError("set TOLLGATE_TOKEN to a token of an owner or an operator");
  const answer = await fetch(`${url.replace(/\/+$/, "")}/admin/v1/config/reload`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ force, reason }),
    signal: AbortSignal.timeout(RELOAD_MS_MAX),
    redirect: "manual",
  }).catch((thrown: unknown) => {
    throw new UsageError(`${url} is not reached: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  });
  const read = objectOf(await answer.json().catch(() => undefined));
  if (answer.ok) return listOf(read?.["data"]) as NodeOutcome[];
  const message = objectOf(read?.["error"])?.["message"];
  throw new UsageError(`${url} answers ${answer.status}${typeof message === "string" ? `: ${message}` : ""}`);
}
