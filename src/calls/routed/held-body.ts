/**
 * A stream whose beginning waits until it has content, so that another target can still answer.
 *
 *   holding ──content, or too much to wait for it──▶ passing: the held bytes leave in one piece, all others as they arrive
 *      └──its error event, or a whole refusal──▶ failed: the same, but nothing more is read
 *      └──broken off, silent for too long, or ended without content──▶ lost
 */
import { type BodySink, limits, type ReplyBody } from "../../core/index.ts";
import type { FirstContent } from "../../dialects/index.ts";
import type { CommitRule } from "../../routing/index.ts";
import { EventSplitter } from "../../streaming/index.ts";

export interface HoldOptions {
  content: FirstContent;
  /** Whether a refusal is a failure, because a target is left for it. */
  endsAtRefusal: boolean;
  /** How far it must come in time, else it is lost; undefined if its first content is enough. */
  commit: CommitRule | undefined;
  /** Called when content has begun that must go on within so many milliseconds. */
  onBegun: (withinMs: number) => void;
}

/** How the hold has ended. The cause of a lost stream is undefined if it ended by itself. */
type HoldEnd = { kind: "passing" } | { kind: "failed" } | { kind: "lost"; cause: unknown };

export class HeldBody implements ReplyBody, BodySink {
  readonly #body: ReplyBody;
  readonly #options: HoldOptions;
  readonly #splitter = new EventSplitter(limits.heldStreamBytesMax, { changesCr: true });
  readonly #ended = Promise.withResolvers<HoldEnd>();
  #held: Buffer[] = [];
  #heldBytes = 0;
  #isHolding = true;
  #hasBegun = false;
  #isPaused = false;
  #sink: BodySink | undefined;
  /** The end of the body, once nothing follows what is held. */
  #end: ((sink: BodySink) => void) | undefined;

  constructor(body: ReplyBody, options: HoldOptions) {
    this.#body = body;
    this.#options = options;
  }

  /** Reads until the stream is committed or has failed. */
  hold(): Promise<HoldEnd> {
    this.#body.flowTo(this);
    return this.#ended.promise;
  }

  onBytes(bytes: Buffer): void {
    const sink = this.#sink;
    if (sink !== undefined && !this.#isPaused && this.#heldBytes === 0) return sink.onBytes(bytes);
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (!this.#isHolding) return;
    this.#options.content.see(this.#splitter.push(bytes));
    if (this.#hasFailed) this.#fail();
    else if (this.#isDue || this.#heldBytes > limits.heldStreamBytesMax) this.#pass();
  }

  onEnd(): void {
    if (this.#isHolding) {
      this.#options.content.see(this.#splitter.rest());
      if (this.#hasFailed) return this.#fail();
      if (!this.#isDue) return this.#settle({ kind: "lost", cause: undefined });
    }
    this.#endWith((sink) => sink.onEnd());
  }

  onFailure(cause: unknown): void {
    if (this.#isHolding) this.#settle({ kind: "lost", cause });
    else this.#endWith((sink) => sink.onFailure(cause));
  }

  flowTo(sink: BodySink): void {
    this.#sink = sink;
    this.resume();
  }

  pause(): void {
    this.#isPaused = true;
    this.#body.pause();
  }

  resume(): void {
    this.#isPaused = false;
    const sink = this.#sink;
    if (sink === undefined) return;
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    if (held.length > 0) sink.onBytes(Buffer.concat(held));
    // The sink may have paused the body when it got them.
    if (this.#isPaused) return;
    const end = this.#end;
    if (end === undefined) return this.#body.resume();
    this.#end = noEnd;
    end(sink);
  }

  cancel(): void {
    this.#sink = undefined;
    this.#body.cancel();
  }

  /** An error event, or a refusal that has ended. */
  get #hasFailed(): boolean {
    const { content, endsAtRefusal } = this.#options;
    if (content.failure !== undefined) return !this.#isCommitted;
    return endsAtRefusal && content.progress === "refusal" && content.hasEnded;
  }

  get #isCommitted(): boolean {
    const { content, commit, endsAtRefusal } = this.#options;
    if (content.progress === "nothing" || (content.progress === "refusal" && endsAtRefusal)) return false;
    return commit === undefined || content.characters >= commit.chars;
  }

  /** Whether the stream may pass: a short one may end before it has come far. */
  get #isDue(): boolean {
    const { content, commit, onBegun } = this.#options;
    if (this.#isCommitted || content.hasEnded) return true;
    if (commit !== undefined && content.progress === "content" && !this.#hasBegun) {
      this.#hasBegun = true;
      onBegun(commit.withinMs);
    }
    return false;
  }

  #pass(): void {
    this.pause();
    this.#settle({ kind: "passing" });
  }

  #fail(): void {
    this.#settle({ kind: "failed" });
    this.#body.cancel();
    this.#endWith((sink) => sink.onEnd());
  }

  #settle(end: HoldEnd): void {
    this.#isHolding = false;
    this.#ended.resolve(end);
  }

  #endWith(end: (sink: BodySink) => void): void {
    this.#end = end;
    if (this.#isHolding) this.#pass();
    else if (!this.#isPaused) this.resume();
  }
}

/** The sink knows the end. */
const noEnd = (): void => undefined;
