/**
 * The rounds of one answer: the model is asked, the tools that it calls are run, and it is asked again with their results, until it
 * calls none.
 *
 *   asking ──its answer──▶ reading ──no call of ours, or an end by a limit──▶ ended
 *      ▲                      └──calls──▶ running ──a call of the client's, or a pause──▶ ended
 *      └──────────────────────────────────────┘
 */
import type { PaidAnswer } from "../charges/index.ts";
import { GatewayError, type JsonObject, parseObject, type Usage } from "../core/index.ts";
import {
  type Answer,
  type AnswerEvent,
  type DialectTranslation,
  type Failure,
  failureOf,
  type Stop,
  type ToolCallPart,
} from "../dialects/index.ts";
import type { LoopRequest } from "./requests/loop-request.ts";
import type { RoundTurn } from "./requests/dialects/round-dialect.ts";
import { AnswerJoiner, type JoinedRound } from "./rounds/answer-joiner.ts";
import { readRound } from "./rounds/round-reader.ts";
import { listItem } from "./rounds/items/served-items.ts";
import { isUnpaid, TURN_CHARACTERS_MAX, unpaid, UseRunner } from "./rounds/use-runner.ts";
import type { LoopCall } from "./loop-call.ts";

/** Uses of tools in one answer, unless the request has a limit of its own. */
const USES = 10;
const USES_MAX = 100;

export interface LoopOptions {
  call: LoopCall;
  request: LoopRequest;
  translation: DialectTranslation;
  /** The model that is asked for, for an upstream that does not name the one that answered. */
  model: string;
  /** Unique to the call; letters and digits. */
  callId: string;
  /** When the model may call no tool any more, in milliseconds since the epoch. */
  deadline: number;
  now: () => number;
}

export class Loop {
  readonly #options: LoopOptions;
  readonly #joiner: AnswerJoiner;
  readonly #uses: UseRunner;
  readonly #turns: RoundTurn[] = [];
  /** Of all turns. */
  #characters = 0;
  /** Events before those of the first round. */
  readonly #before: AnswerEvent[] = [];
  /** Whether the round under way was the last. */
  #isLast = false;
  /** Why the answer has ended before its model ended it; undefined if it has not. */
  error: GatewayError | undefined;

  constructor(options: LoopOptions) {
    const { call, request, callId } = options;
    const { sources } = request;
    this.#options = options;
    this.#joiner = new AnswerJoiner(sources, request.dialect);
    this.#uses = new UseRunner({ call, request, sources, joiner: this.#joiner, callId, usesMax: this.#usesMax });
  }

  /** Lists the tools of servers, and runs those with which the answer before has ended. Rejects if nothing is left to pay with. */
  async begin(): Promise<void> {
    const { request, callId } = this.#options;
    for (const [index, server] of request.servers.entries()) {
      if (request.dialect !== "responses") break;
      const list = listItem(server, `${callId}_${index}`);
      const { events, index: place } = this.#joiner.begin(list.begun);
      this.#before.push(...events, ...this.#joiner.end(place, list.whole));
    }
    const { pending } = request;
    if (pending.length === 0) return;
    const calls = pending.map(({ id, name, arguments: text }) => ({
      kind: "tool-call" as const,
      callId: id,
      name,
      arguments: text,
    }));
    const running = this.#uses.run(calls, pending);
    let next = await running.next();
    for (; next.done !== true; next = await running.next()) this.#before.push(...next.value);
    if (next.value.unpaid !== undefined) throw next.value.unpaid;
    this.#keep({ answer: undefined, results: next.value.results });
  }

  /** Asks the model. Rejects, or resolves with the answer of an upstream that has refused, as a call without tools does. */
  ask(): Promise<PaidAnswer> {
    const { call, request, deadline, now } = this.#options;
    const tokens = request.tokensMax;
    this.#isLast =
      this.#turns.length > 0 &&
      (now() >= deadline ||
        this.#characters >= TURN_CHARACTERS_MAX ||
        (this.#endsByUses && this.#uses.count >= this.#usesMax));
    const body = request.bodyOf({
      turns: this.#turns,
      isLast: this.#isLast,
      tokensLeft: tokens === undefined || this.#turns.length === 0 ? undefined : tokens - this.#outputTokens,
    });
    return call.askModel(body, { stays: this.#joiner.hasContent });
  }

  /** The events of the whole answer, given that of the first round. Rejects for an abort, never for a failure of a later round. */
  async *events(first: PaidAnswer): AsyncGenerator<readonly AnswerEvent[]> {
    const { translation, callId, model, call } = this.#options;
    let answer: PaidAnswer | undefined = first;
    if (this.#before.length > 0) yield [...this.#joiner.open(model), ...this.#before];
    while (answer !== undefined) {
      const { readUsage, signal } = call;
      const reading = { translation, callId: `${callId}r${this.#turns.length}`, model, readUsage, signal };
      for await (const events of readRound(answer, reading)) {
        const shown = this.#joiner.take(events);
        if (shown.length > 0) yield shown;
      }
      // The round has been cut off then.
      signal.throwIfAborted();
      answer = yield* this.#after(this.#joiner.endRound());
    }
  }

  /** The answer of the next round; undefined if there is none. */
  async *#after(round: JoinedRound): AsyncGenerator<readonly AnswerEvent[], PaidAnswer | undefined> {
    const { request } = this.#options;
    const { failure, stop, calls } = round;
    if (failure !== undefined) return yield* this.#fail(failure);
    const isOurs = ({ name, namespace }: ToolCallPart): boolean =>
      namespace === undefined && request.functions.has(name);
    const own = this.#isLast ? [] : calls.filter(isOurs);
    const others = calls.filter((call) => !isOurs(call));
    if (own.length === 0 || stop.reason === "length") {
      const reason = others.length === 0 && stop.reason === "tool-calls" ? { reason: "end" as const } : stop;
      yield [...this.#joiner.handOut(others), ...this.#finish(reason)];
      return undefined;
    }
    const ran = yield* this.#uses.run(own);
    if (ran.unpaid !== undefined) return yield* this.#leave(ran.unpaid);
    if (ran.end !== undefined) {
      yield [...this.#joiner.handOut(others), ...this.#finish({ reason: others.length > 0 ? "tool-calls" : ran.end })];
      return undefined;
    }
    if (others.length > 0) {
      yield [...this.#joiner.handOut(others), ...this.#finish({ reason: "tool-calls" })];
      return undefined;
    }
    try {
      this.#keep({ answer: this.#written(round.answer), results: ran.results });
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      return yield* this.#leave(thrown);
    }
    return yield* this.#askAgain();
  }

  /** Throws 503 if the memory for it is not there: all later rounds send it. */
  #keep(turn: RoundTurn): void {
    const answer = turn.answer === undefined ? 0 : JSON.stringify(turn.answer).length;
    const characters = turn.results.reduce((sum, { text }) => sum + text.length, answer);
    // Itself, and its part in the body of the round under way.
    this.#options.call.memory.add(2 * characters);
    this.#characters += characters;
    this.#turns.push(turn);
  }

  async *#askAgain(): AsyncGenerator<readonly AnswerEvent[], PaidAnswer | undefined> {
    const { call, request, translation } = this.#options;
    call.signal.throwIfAborted();
    if (request.tokensMax !== undefined && request.tokensMax <= this.#outputTokens) {
      yield this.#finish({ reason: "length" });
      return undefined;
    }
    try {
      const answer = await this.ask();
      if (answer.status < 400) return answer;
      const failure = translation.readFailure(answer.status, await new Response(answer.body).text());
      if (answer.status !== 429) return yield* this.#fail(failure);
      return yield* this.#leave(new GatewayError("rate_limit_exceeded", failure.message));
    } catch (thrown) {
      call.signal.throwIfAborted();
      if (!(thrown instanceof GatewayError)) throw thrown;
      // A failure would lose the rounds that are paid. An answer that ends early keeps them, and its client can continue it.
      const leaves = isUnpaid(thrown) || thrown.code === "rate_limit_exceeded";
      return yield* leaves ? this.#leave(thrown) : this.#fail(failureOf(thrown), thrown);
    }
  }

  /** Nothing is left to pay with, of credits or of a limit: the answer ends as it is. */
  *#leave(error: GatewayError): Generator<readonly AnswerEvent[], undefined> {
    this.error = error;
    yield this.#finish({ reason: this.#options.request.dialect === "messages" ? "pause" : "length" });
    return undefined;
  }

  *#fail(failure: Failure, cause?: GatewayError): Generator<readonly AnswerEvent[], undefined> {
    const unpaidCode = unpaid.find((code) => code === failure.code);
    if (unpaidCode !== undefined) return yield* this.#leave(new GatewayError(unpaidCode, failure.message));
    this.error = cause ?? new GatewayError("upstream_interrupted", failure.message);
    yield this.#joiner.fail(failure);
    return undefined;
  }

  #finish(stop: Stop): AnswerEvent[] {
    return this.#joiner.finish(stop, this.#uses.counted);
  }

  /** The round's answer as its client would have got it. */
  #written(answer: Answer): JsonObject {
    const { translation, callId } = this.#options;
    const id = `${callId}r${this.#turns.length}`;
    const context = { request: {}, callId: id, created: 0, inputTokensEstimate: 1, requestId: id };
    return parseObject(translation.writeAnswer(answer, context)) ?? {};
  }

  get #outputTokens(): number {
    return outputOf(this.#joiner.usage);
  }

  /** Messages pauses instead. */
  get #endsByUses(): boolean {
    const { dialect, usesMax } = this.#options.request;
    return dialect !== "messages" || usesMax !== undefined;
  }

  get #usesMax(): number {
    return Math.min(this.#options.request.usesMax ?? USES, USES_MAX);
  }
}

function outputOf({ output = 0, reasoning = 0 }: Usage): number {
  return output + reasoning;
}
