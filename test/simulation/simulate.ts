/** Runs seeds in other processes, so that one that spins for ever is stopped and named. */
import { join } from "node:path";
import { nameOf, pairs } from "./kit/meetings.ts";
import type { ChildMessage } from "./protocol.ts";

/** How long a process may tell nothing: a seed takes some 15 ms of CPU. */
const SILENT_MS_MAX = 30_000;

/** So many seeds must let every pair of events meet. */
export const SEEDS_OF_ALL_PAIRS = 1_000;

export interface SimulateOptions {
  first: number;
  count: number;
  /** How many processes share the seeds. */
  processes: number;
  /** The folder of the repository, or of a copy. */
  root: string;
  /** Writes what happens to the standard error. */
  isTraced?: boolean;
}

export interface Simulated {
  /** How many seeds ended, with nothing wrong. */
  ended: number;
  /** The first that did not, in the order of time. */
  failure: { seed: number; finding: string } | undefined;
  /** By seed: equal if and only if the same things happened at the same times. */
  traceHashes: ReadonlyMap<number, number>;
  /** How often each pair of events met. */
  meetings: ReadonlyMap<string, number>;
}

/** Runs these seeds, and stops at the first that fails. */
export async function simulate(options: SimulateOptions): Promise<Simulated> {
  const { first, count, processes } = options;
  const state: State = { ended: 0, failure: undefined, traceHashes: new Map(), meetings: new Map(), children: [] };
  const share = Math.ceil(count / processes);
  const shares: Promise<void>[] = [];
  for (let done = 0; done < count; done += share) {
    shares.push(runShare(state, options, { first: first + done, count: Math.min(share, count - done) }));
  }
  await Promise.all(shares);
  return state;
}

/** The pairs that never met. */
export function missingPairs({ meetings }: Pick<Simulated, "meetings">): string[] {
  return pairs.map(nameOf).filter((name) => !meetings.has(name));
}

interface State extends Simulated {
  traceHashes: Map<number, number>;
  meetings: Map<string, number>;
  children: { kill(signal: "SIGKILL"): void }[];
}

async function runShare(
  state: State,
  { root, isTraced = false }: SimulateOptions,
  { first, count }: { first: number; count: number },
): Promise<void> {
  const program = join(root, "test/simulation/child.ts");
  const command = [process.execPath, program, String(first), String(count), ...(isTraced ? ["--trace"] : [])];
  const child = Bun.spawn(command, { cwd: root, stdout: "pipe", stderr: "inherit", stdin: "ignore" });
  state.children.push(child);
  let current = first;
  let isComplete = false;
  const fail = (seed: number, finding: string): void => {
    if (state.failure !== undefined) return;
    state.failure = { seed, finding };
    for (const other of state.children) other.kill("SIGKILL");
  };
  const watch = (): NodeJS.Timeout =>
    setTimeout(() => fail(current, `it hangs: nothing for ${SILENT_MS_MAX} ms`), SILENT_MS_MAX);
  let watchdog = watch();
  for await (const message of messagesOf(child.stdout)) {
    clearTimeout(watchdog);
    watchdog = watch();
    if (message.kind === "begun") current = message.seed;
    else if (message.kind === "failed") fail(message.seed, message.finding);
    else if (message.kind === "ended") {
      state.ended += 1;
      state.traceHashes.set(message.seed, message.traceHash);
    } else {
      isComplete = true;
      for (const [pair, times] of Object.entries(message.pairs)) {
        state.meetings.set(pair, (state.meetings.get(pair) ?? 0) + times);
      }
    }
  }
  const code = await child.exited;
  clearTimeout(watchdog);
  if (!isComplete) fail(current, `its process ended with ${code}`);
}

async function* messagesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<ChildMessage> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line) as ChildMessage;
  }
}
