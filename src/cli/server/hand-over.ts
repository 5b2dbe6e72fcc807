/**
 * `serve --handover`, beside a running gateway on the same port:
 *
 *   next    ──is ready──▶ binds the port too ──▶ SIGUSR2 ──▶ serves alone
 *   before  serves ───────────────────────────▶ ends connections with their answers ──1 s──▶ closes the port ──▶ drains, exits
 */
import { hostname } from "node:os";
import { type Node, openNodeStore, THERE_MS_MAX } from "../../nodes/index.ts";
import type { Storage } from "../../storage/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { UsageError } from "../options.ts";
import { environment } from "../state.ts";
import { HAND_OVER_SIGNAL } from "./end-on-signal.ts";
import { isPortFree, type Listening } from "./listen.ts";

/** How long a next process may take until it is ready; then it gives up, and the running one goes on. */
const READY_MS_MAX = 60_000;
/** Each look that fails is in the log. */
const LOOK_MS_MIN = 50;
const LOOK_MS_MAX = 1_000;

/**
 * The process of this machine that serves the port and can hand it over; undefined if nobody listens there. Throws a `UsageError` if
 * another process does.
 */
export async function findPredecessor(
  storage: Storage,
  { host, port }: { host: string; port: number },
): Promise<Node | undefined> {
  if (process.platform !== "linux") throw new UsageError("--handover: two processes on one port need Linux");
  if (port === 0) throw new UsageError("--handover: needs the port of the running gateway (--port)");
  if (isPortFree({ host, port })) return undefined;
  const there = await openNodeStore(storage).seenSince(environment.clock() - THERE_MS_MAX);
  const found = there.find((node) => node.port === port && node.host === hostname() && canSignal(node.pid));
  if (found !== undefined) return found;
  throw new UsageError(
    `--handover: what listens on ${host}:${port} is no gateway of this storage, on this machine and of the same user, that can hand over`,
  );
}

function canSignal(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/**
 * Binds the port, once this process is ready: until then the running one gets all calls. Throws a `UsageError` if it does not become
 * ready.
 */
export async function openWhenReady(
  server: Pick<Listening, "open">,
  { isReady }: { isReady: () => Promise<boolean> },
): Promise<void> {
  const until = performance.now() + READY_MS_MAX;
  for (let waitMs = LOOK_MS_MIN; !(await isReady()); waitMs = Math.min(2 * waitMs, LOOK_MS_MAX)) {
    if (performance.now() > until) throw new UsageError("--handover: not ready in time; the running gateway goes on");
    await Bun.sleep(waitMs);
  }
  server.open();
}

/** Lets the process before hand over. */
export function takeOver({ pid }: Node, logger: Logger): void {
  logger.info({ pid }, "the gateway before hands over");
  try {
    process.kill(pid, HAND_OVER_SIGNAL);
  } catch {
    // It has just ended.
  }
}
