/**
 * The configurations of worker processes, which their parent sends by the channel that it has opened to each:
 *
 *   parent ──{ configuration }──▶ worker ──{ reconfigured }──▶ parent
 */
import process from "node:process";
import type { WorkerSettings } from "./worker-settings.ts";

/** The part of a worker's settings that a reload may change. */
export interface WorkerConfiguration extends Pick<WorkerSettings, "config" | "missingKeys" | "simulated"> {
  refreshesCatalog: boolean;
}

/** How long a worker may take to put a configuration into force. */
const ANSWER_MS_MAX = 30_000;

interface Request {
  /** As JSON, like the settings of the start, with which it is compared. */
  configuration: string;
}

interface Answer {
  reconfigured: boolean;
}

interface Channel {
  send(message: Request): void;
}

/** Puts the parent's configurations into force, in a worker. */
export function answerReloads(apply: (configuration: WorkerConfiguration) => Promise<void>): void {
  process.on("message", (message: unknown) => {
    if (!isRequest(message)) return;
    apply(JSON.parse(message.configuration) as WorkerConfiguration).then(
      () => answer(true),
      () => answer(false),
    );
  });
}

function answer(reconfigured: boolean): void {
  process.send?.({ reconfigured } satisfies Answer);
}

const isRequest = (message: unknown): message is Request =>
  typeof message === "object" && message !== null && "configuration" in message;

export const isReloadAnswer = (message: unknown): message is Answer =>
  typeof message === "object" && message !== null && "reconfigured" in message;

/** The parent's side: one reload at a time. */
export class WorkerReloads<Worker extends Channel> {
  readonly #waiting = new Map<Worker, (isDone: boolean) => void>();

  /** Resolves with whether the worker has put the configuration into force. */
  async send(worker: Worker, configuration: WorkerConfiguration): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#waiting.set(worker, resolve);
    const timer = setTimeout(() => resolve(false), ANSWER_MS_MAX);
    try {
      worker.send({ configuration: JSON.stringify(configuration) });
    } catch {
      // It has just ended.
      resolve(false);
    }
    const isDone = await promise;
    clearTimeout(timer);
    this.#waiting.delete(worker);
    return isDone;
  }

  receive(worker: Worker, { reconfigured }: Answer): void {
    this.#waiting.get(worker)?.(reconfigured);
  }

  leave(worker: Worker): void {
    this.#waiting.get(worker)?.(false);
  }
}
