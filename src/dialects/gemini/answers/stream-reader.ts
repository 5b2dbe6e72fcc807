import { type JsonObject, listOf, objectOf, objectsOf, parseObject } from "../../../core/index.ts";
import {
  type AnswerEvent,
  brokenOff,
  type Failure,
  startEvent,
  type StreamReader,
  type UpstreamContext,
} from "../../conversation/index.ts";
import { BilledMembers } from "./billed-members.ts";
import { CandidateReader } from "./candidate-reader.ts";
import { readGeminiError } from "./failures.ts";

/**
 * Gemini's chunks to answer events. A stream has no last event: it ends with its connection.
 *
 *   waiting ──a chunk──▶ reading ──all candidates stopped, then closed──▶ ended "end"
 *      └──────┴──an error, or closed before──▶ ended "error"
 */
export class GeminiStreamReader implements StreamReader {
  readonly #upstream: UpstreamContext;
  readonly #candidates = new Map<number, CandidateReader>();
  readonly #billed = new BilledMembers();
  #state: "waiting" | "reading" | "ended" = "waiting";

  constructor(upstream: UpstreamContext) {
    this.#upstream = upstream;
  }

  read(data: string): readonly AnswerEvent[] {
    const events: AnswerEvent[] = [];
    const chunk = this.#state === "ended" ? undefined : parseObject(data);
    if (chunk !== undefined) this.#readChunk(chunk, events);
    return events;
  }

  close(): readonly AnswerEvent[] {
    if (this.#state === "ended") return [];
    const events: AnswerEvent[] = [];
    const readers = [...this.#candidates.values()];
    if (readers.length > 0 && readers.every(({ hasStopped }) => hasStopped)) {
      this.#state = "ended";
      events.push({ type: "end" });
    } else this.#fail(brokenOff, events);
    return events;
  }

  /** A whole answer, as the equivalent stream. One that gives no reason for its end has ended all the same. */
  readWhole(answer: JsonObject): AnswerEvent[] {
    const events: AnswerEvent[] = [];
    this.#readChunk(answer, events);
    for (const reader of this.#candidates.values()) if (this.#state === "reading") reader.stop("STOP", events);
    return [...events, ...this.close()];
  }

  #readChunk(chunk: JsonObject, events: AnswerEvent[]): void {
    if (objectOf(chunk["error"]) !== undefined) return this.#fail(readGeminiError(chunk), events);
    const candidates = objectsOf(chunk["candidates"]);
    const blocked = objectOf(chunk["promptFeedback"])?.["blockReason"];
    const usage = objectOf(chunk["usageMetadata"]);
    if (candidates.length === 0 && blocked === undefined && usage === undefined) return;
    this.#start(chunk, events);
    for (const candidate of candidates) {
      const failure = this.#readerOf(candidate["index"]).read(candidate, events);
      if (failure !== undefined) return this.#fail(failure, events);
    }
    if (blocked !== undefined && listOf(chunk["candidates"]).length === 0) this.#readerOf(0).stop("SAFETY", events);
    if (this.#billed.add(chunk) === undefined) return;
    const observed = this.#upstream.readUsage(this.#billed.answer);
    if (observed !== undefined) events.push({ type: "usage", usage: observed.usage, serviceTier: undefined });
  }

  #start(chunk: JsonObject, events: AnswerEvent[]): void {
    if (this.#state !== "waiting") return;
    this.#state = "reading";
    events.push(startEvent({ id: chunk["responseId"], model: chunk["modelVersion"] }, this.#upstream));
  }

  #readerOf(index: unknown): CandidateReader {
    const number =
      typeof index === "number" && Number.isInteger(index) && index >= 0 && index < CANDIDATES_MAX ? index : 0;
    const found = this.#candidates.get(number) ?? new CandidateReader(number, this.#upstream);
    this.#candidates.set(number, found);
    return found;
  }

  #fail(failure: Failure, events: AnswerEvent[]): void {
    this.#state = "ended";
    events.push({ type: "error", failure });
  }
}

/** Google's limit of `candidateCount` is 8. */
const CANDIDATES_MAX = 64;
