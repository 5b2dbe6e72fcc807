/**
 * The parts that the configuration in force has made, and those of earlier configurations that calls still use:
 *
 *   in force ──replaced──▶ retiring: takes up nothing by itself, ends its work ──idle──▶ stopped
 *
 * A request takes the parts in force when it begins, and keeps them.
 */
import { everyUnref, type Every } from "../core/index.ts";
import type { RunningPart } from "../http/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { stopAll } from "./drain.ts";

/** The interval at which replaced parts are asked whether they are idle. */
const LOOK_MS = 500;

interface Made {
  readonly running: readonly RunningPart[];
}

interface InForceOptions {
  /** How long a request may take until it counts as active: until its body has arrived. */
  beginMsMax: number;
  logger: Logger;
  every?: Every;
  /** Monotonic. */
  now?: () => number;
}

export class InForce<Parts extends Made> {
  readonly #options: InForceOptions;
  readonly #retiring = new Set<Parts>();
  #current: Parts;

  constructor(first: Parts, options: InForceOptions) {
    this.#current = first;
    this.#options = options;
  }

  get current(): Parts {
    return this.#current;
  }

  /** Those in force, and those that have not ended. */
  get all(): readonly Parts[] {
    return [this.#current, ...this.#retiring];
  }

  /** From now on requests begin with these parts. */
  replace(next: Parts): void {
    const { beginMsMax, logger, every = everyUnref, now = () => performance.now() } = this.#options;
    const replaced = this.#current;
    this.#current = next;
    this.#retiring.add(replaced);
    for (const part of replaced.running) part.retire?.();
    const notBefore = now() + beginMsMax;
    const stopLooking = every(LOOK_MS, () => {
      if (now() < notBefore || !replaced.running.every(isIdle)) return;
      stopLooking();
      if (this.#retiring.delete(replaced)) void stopAll(replaced.running, logger);
    });
  }
}

const isIdle = ({ active = 0, own = 0 }: RunningPart): boolean => active === 0 && own === 0;
