import { decodeBody, decodeBodyInSteps, type ParsedBody } from "../bodies/index.ts";
import { type JsonObject, limits } from "../core/index.ts";

/** Whether reading a body of this size needs a turn. */
export function isLarge(bytes: number): boolean {
  return bytes > limits.smallBodyBytesMax;
}

/**
 * The queue of the steps that read or convert large bodies. Each of them blocks the thread for up to a tenth of a second,
 * so they run one at a time, and each is followed by a rest as long as the step was: other calls get half of the thread.
 */
export class LargeBodies {
  readonly #waiting: (() => void)[] = [];
  #isBusy = false;

  /** Resolves when the next step may run: synchronously, as soon as the promise has resolved. */
  turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (!this.#isBusy) this.#next();
    });
  }

  #next(): void {
    const begin = this.#waiting.shift();
    this.#isBusy = begin !== undefined;
    if (begin === undefined) return;
    const startedAt = performance.now();
    begin();
    // The step has run by then.
    setImmediate(() => setTimeout(() => this.#next(), performance.now() - startedAt));
  }
}

/** Decodes a body; a large one in steps, each in its own turn, like whatever follows. */
export async function decodeInTurns(
  parsed: Pick<ParsedBody<unknown>, "bytes" | "longStrings">,
  largeBodies: LargeBodies,
): Promise<JsonObject> {
  if (!isLarge(parsed.bytes.length)) return decodeBody(parsed);
  const decoded = await decodeBodyInSteps(parsed, () => largeBodies.turn());
  await largeBodies.turn();
  return decoded;
}
