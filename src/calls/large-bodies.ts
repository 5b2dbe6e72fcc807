import { decodeBody, decodeBodyInSteps, isLarge, type ParsedBody } from "../bodies/index.ts";
import { FairQueue, type JsonObject, type QueuedTask } from "../core/index.ts";

interface Step extends QueuedTask {
  begin: () => void;
}

/**
 * The queue of the steps that read or convert large bodies. Each of them blocks the thread for up to a tenth of a second,
 * so they run one at a time, and each is followed by a rest as long as the step was: other calls get half of the thread. Users
 * have their turns one after the other, however many bodies one of them sends; those that wait are bounded by their memory.
 */
export class LargeBodies {
  readonly #queue = new FairQueue<Step>({ places: 1, waitingPerOwnerMax: Infinity });

  /** Resolves when the next step of this user may run: synchronously, as soon as the promise has resolved. */
  turn(owner: string): Promise<void> {
    return new Promise((begin) => {
      this.#queue.add({ owner, begin });
      this.#next();
    });
  }

  #next(): void {
    const step = this.#queue.take();
    if (step === undefined) return;
    const startedAt = performance.now();
    step.begin();
    // The step has run by then.
    setImmediate(() => setTimeout(() => this.#end(step), performance.now() - startedAt));
  }

  #end(step: Step): void {
    this.#queue.end(step);
    this.#next();
  }
}

/** Decodes a body; a large one in steps, each in its own turn, like whatever follows. */
export async function decodeInTurns(
  parsed: Pick<ParsedBody<unknown>, "bytes" | "longStrings" | "named">,
  largeBodies: LargeBodies,
  owner: string,
): Promise<JsonObject> {
  if (!isLarge(parsed.bytes.length)) return decodeBody(parsed);
  const decoded = await decodeBodyInSteps(parsed, () => largeBodies.turn(owner));
  await largeBodies.turn(owner);
  return decoded;
}
