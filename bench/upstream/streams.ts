import type { UpstreamStream } from "./answers.ts";
import type { StreamPlan } from "./protocol.ts";

/** The connection that a stream is written to. */
export interface StreamTarget {
  readonly closed: boolean;
  send(bytes: Uint8Array): void;
}

interface OpenStream {
  target: StreamTarget;
  content: UpstreamStream;
  nextBurst: number;
}

/** Writes the streams by the current plan. All timed streams share one timer, so that 3,000 of them cost little. */
export class Streams {
  #plan: StreamPlan = { kind: "burst" };
  #timer: ReturnType<typeof setInterval> | null = null;
  readonly #timed = new Set<OpenStream>();

  get open(): number {
    return this.#timed.size;
  }

  setPlan(plan: StreamPlan): void {
    this.#plan = plan;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = plan.kind === "burst" ? null : setInterval(() => this.#tick(), plan.gapMs);
    if (plan.kind === "burst") this.#finishTimed();
  }

  start(target: StreamTarget, content: UpstreamStream): void {
    const stream: OpenStream = { target, content, nextBurst: 0 };
    if (!advance(stream)) return;
    if (this.#plan.kind === "burst") continueInBursts(stream);
    else this.#timed.add(stream);
  }

  #tick(): void {
    for (const stream of this.#timed) {
      if (this.#plan.kind === "hold" && !stream.target.closed) stream.target.send(stream.content.word);
      else if (!advance(stream)) this.#timed.delete(stream);
    }
  }

  #finishTimed(): void {
    for (const stream of this.#timed) continueInBursts(stream);
    this.#timed.clear();
  }
}

/** Writes the next burst; false when that was the last one or the proxy has hung up. */
function advance(stream: OpenStream): boolean {
  const { bursts } = stream.content;
  const burst = bursts[stream.nextBurst];
  if (burst === undefined || stream.target.closed) return false;
  stream.nextBurst += 1;
  stream.target.send(burst);
  return stream.nextBurst < bursts.length;
}

function continueInBursts(stream: OpenStream): void {
  setImmediate(() => {
    if (advance(stream)) continueInBursts(stream);
  });
}
