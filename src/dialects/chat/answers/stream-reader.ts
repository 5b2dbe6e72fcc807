import { type JsonObject, objectOf, parseObject } from "../../../core/index.ts";
import {
  type AnswerEvent,
  brokenOff,
  type Citation,
  type Failure,
  readTier,
  startEvent,
  type StreamReader,
  type UpstreamContext,
  type UsageEvent,
} from "../../conversation/index.ts";
import { readErrorValue } from "../../openai-failures.ts";
import { ChoiceReader } from "./choice-reader.ts";
import { readSources } from "./citations.ts";

/**
 * Chat completion chunks to answer events.
 *
 *   waiting ──first chunk──▶ reading ──[DONE], or closed after every choice has stopped──▶ ended "end"
 *      └────────────┴──an error, or closed too early──▶ ended "error"
 */
export class ChatStreamReader implements StreamReader {
  readonly #upstream: UpstreamContext;
  readonly #choices = new Map<number, ChoiceReader>();
  #usage: UsageEvent["usage"];
  #serviceTier: string | undefined;
  #sources: readonly Citation[] = [];
  #started = false;
  #ended = false;

  constructor(upstream: UpstreamContext) {
    this.#upstream = upstream;
  }

  read(data: string): readonly AnswerEvent[] {
    if (this.#ended) return [];
    if (data.startsWith("[DONE]")) return this.#done();
    const chunk = parseObject(data);
    const events: AnswerEvent[] = [];
    // Anything but a JSON object is not an event of this dialect, for example a proxy's ping.
    if (chunk !== undefined) this.readChunk(chunk, events);
    return events;
  }

  close(): readonly AnswerEvent[] {
    if (this.#ended) return [];
    const stopped = this.#choices.size > 0 && [...this.#choices.values()].every((choice) => choice.stopped);
    if (stopped) return this.#done();
    return this.#fail(brokenOff, []);
  }

  /** A chunk, or a whole answer, whose `message` is one delta with the whole content. */
  readChunk(chunk: JsonObject, events: AnswerEvent[]): void {
    const error = errorOf(chunk);
    if (error !== undefined) {
      this.#fail(error, events);
      return;
    }
    this.#noteUsage(chunk);
    this.#sources = readSources(chunk) ?? this.#sources;
    const choices = chunk["choices"];
    if (!Array.isArray(choices)) return;
    // A chunk about the prompt, without choices, names no model (Azure).
    if (!this.#started && choices.length > 0) this.#start(chunk, events);
    for (const value of choices) {
      const choice = objectOf(value);
      const failure = choice === undefined ? undefined : this.#readChoice(choice, events);
      if (failure !== undefined) {
        this.#fail(failure, events);
        return;
      }
    }
  }

  #readChoice(choice: JsonObject, events: AnswerEvent[]): Failure | undefined {
    const index = typeof choice["index"] === "number" ? choice["index"] : 0;
    let reader = this.#choices.get(index);
    if (reader === undefined) {
      reader = new ChoiceReader(index, this.#upstream);
      this.#choices.set(index, reader);
    }
    const stops = typeof choice["finish_reason"] === "string" && this.#sources.length > 0;
    if (!stops) return reader.read(choice, events);
    // The last chunk's content comes before the sources of the whole answer.
    const failure = reader.read({ ...choice, finish_reason: null }, events);
    reader.citeAll(this.#sources, events);
    return failure ?? reader.read({ index, finish_reason: choice["finish_reason"] }, events);
  }

  #start(chunk: JsonObject, events: AnswerEvent[]): void {
    this.#started = true;
    events.push(startEvent(chunk, this.#upstream));
  }

  #noteUsage(chunk: JsonObject): void {
    const observed = this.#upstream.readUsage(chunk);
    if (observed !== undefined) this.#usage = observed.usage;
    this.#serviceTier = readTier(chunk["service_tier"]) ?? this.#serviceTier;
  }

  #done(): AnswerEvent[] {
    const events: AnswerEvent[] = [];
    if (!this.#started) {
      return this.#fail(
        { kind: "server", code: "upstream_invalid_answer", message: "The upstream sent no answer." },
        events,
      );
    }
    for (const choice of this.#choices.values()) {
      const failure = choice.stop("stop", events);
      if (failure !== undefined) return this.#fail(failure, events);
    }
    this.#emitUsage(events);
    this.#ended = true;
    events.push({ type: "end" });
    return events;
  }

  #fail(failure: Failure, events: AnswerEvent[]): AnswerEvent[] {
    this.#emitUsage(events);
    this.#ended = true;
    events.push({ type: "error", failure });
    return events;
  }

  #emitUsage(events: AnswerEvent[]): void {
    if (!this.#started || (this.#usage === undefined && this.#serviceTier === undefined)) return;
    events.push({ type: "usage", usage: this.#usage, serviceTier: this.#serviceTier });
  }
}

/** At the top level, as in Groq's, or the whole chunk (Mistral). */
function errorOf(chunk: JsonObject): Failure | undefined {
  if (chunk["object"] === "error") return readErrorValue(chunk);
  const error = chunk["error"] ?? objectOf(chunk["x_groq"])?.["error"];
  if (error === undefined || error === null || error === false) return undefined;
  const failure = readErrorValue({ ...chunk, error });
  return failure.message === "" ? { ...failure, message: "The upstream's stream failed." } : failure;
}
