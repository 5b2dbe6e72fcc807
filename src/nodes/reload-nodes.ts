/** Asks nodes to read their configuration again, and waits for the outcomes. */
import { hostname } from "node:os";
import { type JsonObject, randomId, type RandomBytes, version } from "../core/index.ts";
import type { Node, NodeAsk, NodeStore } from "./store.ts";

const LOOK_MS = 50;

const ID_CHARACTERS = 12;

interface NodeReload {
  node: string;
  /** The outcome, as the node has stored it; that of silence if it has not answered in time. */
  result: JsonObject;
}

interface ReloadNodesOptions {
  store: Pick<NodeStore, "ask" | "seenSince">;
  randomBytes: RandomBytes;
  /** Removes providers even if stored answers, files or jobs need them. */
  force: boolean;
  /** Lets them compare it with the one in force, and change nothing. */
  check?: boolean;
  /** How long the nodes may take, in milliseconds. */
  waitMsMax: number;
}

const SILENT: JsonObject = {
  ok: false,
  changed: [],
  need_restart: [],
  error: "no answer in time; its log may have the reason",
};

const OTHER_VERSION: JsonObject = { ...SILENT, error: "it has another version: ask a node of its version" };

export function reloadNodes(nodes: readonly Node[], options: ReloadNodesOptions): Promise<NodeReload[]> {
  const { store, randomBytes, force, check = false, waitMsMax } = options;
  const until = performance.now() + waitMsMax;
  return Promise.all(
    nodes.map(async (node) => {
      // An earlier version knows no comparison: it would reload.
      if (check && node.version !== version) return { node: node.name, result: OTHER_VERSION };
      const asked = { id: randomId(randomBytes, ID_CHARACTERS), force, check };
      if (!(await ask(node.name, asked))) return { node: node.name, result: SILENT };
      // Another machine's node sees the request within seconds.
      if (isHere(node)) signal(node.pid, "SIGHUP");
      return { node: node.name, result: (await outcomeOf(node.name, asked.id)) ?? SILENT };
    }),
  );

  /** Waits for the request of somebody else. Resolves with whether the node has this one. */
  async function ask(name: string, asked: NodeAsk): Promise<boolean> {
    while (performance.now() < until) {
      if (await store.ask(name, asked)) return true;
      await Bun.sleep(LOOK_MS);
    }
    return false;
  }

  async function outcomeOf(name: string, id: string): Promise<JsonObject | undefined> {
    while (performance.now() < until) {
      const row = (await store.seenSince(0)).find((each) => each.name === name);
      const outcomes = row?.outcome === undefined ? [] : [row.outcome, ...row.outcome.earlier];
      const own = outcomes.find((outcome) => outcome.id === id);
      if (own !== undefined) return own.result;
      await Bun.sleep(LOOK_MS);
    }
    return undefined;
  }
}

/** Whether the node is a living process of this machine. */
export function isHere({ host, pid }: Node): boolean {
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
