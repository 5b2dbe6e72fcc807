import { type JsonObject, listOf, objectOf, parseObject, stringOf } from "../../../core/index.ts";
import {
  type AnswerBlock,
  type AnswerEvent,
  BlockQueue,
  brokenOff,
  type Failure,
  type QueuedBlock,
  readTier,
  startEvent,
  type Stop,
  type StreamReader,
  type UpstreamContext,
} from "../../conversation/index.ts";
import { readCitation } from "./citations.ts";
import { readErrorEvent } from "./failures.ts";
import { readStopReason } from "./stop-reasons.ts";
import { isByProgram } from "../calls.ts";
import { StreamFigures } from "./usage.ts";

/** A block that has begun upstream, by its index there. */
interface UpstreamBlock {
  queued: QueuedBlock | undefined;
  /** Its start; contains the parts that its deltas omit. */
  start: JsonObject;
  /** Arguments so far. */
  json: string;
}

/**
 * Messages events to answer events.
 *
 *   waiting ──message_start──▶ reading ──message_delta──▶ stopped ──message_stop, or closed──▶ ended "end"
 *      └──────────────┴──an error event, or closed too early──▶ ended "error"
 */
export class MessagesStreamReader implements StreamReader {
  readonly #upstream: UpstreamContext;
  readonly #queue = new BlockQueue(0, true);
  readonly #blocks = new Map<unknown, UpstreamBlock>();
  readonly #figures = new StreamFigures();
  #hasText = false;
  #state: "waiting" | "telling" | "stopped" | "ended" = "waiting";
  #id: unknown;
  /** A message that began with content, and with its stop reason. */
  #stopAtStart: JsonObject = {};

  constructor(upstream: UpstreamContext) {
    this.#upstream = upstream;
  }

  read(data: string): readonly AnswerEvent[] {
    const events: AnswerEvent[] = [];
    const event = this.#state === "ended" ? undefined : parseObject(data);
    if (event !== undefined) this.#readEvent(event, events);
    return events;
  }

  close(): readonly AnswerEvent[] {
    if (this.#state === "ended") return [];
    const events: AnswerEvent[] = [];
    if (this.#state === "stopped") this.#end(events);
    else this.#fail(brokenOff, events);
    return events;
  }

  /** A whole message, as the equivalent stream. */
  readMessage(message: JsonObject): AnswerEvent[] {
    const events: AnswerEvent[] = [];
    this.#readEvent({ type: "message_start", message }, events);
    this.#readEvent({ type: "message_delta", delta: message, usage: message["usage"] }, events);
    this.#readEvent({ type: "message_stop" }, events);
    return events;
  }

  #readEvent(event: JsonObject, events: AnswerEvent[]): void {
    switch (event["type"]) {
      case "message_start":
        this.#start(objectOf(event["message"]) ?? {}, events);
        return;
      case "content_block_start":
        this.#startBlock(event["index"], objectOf(event["content_block"]) ?? {}, events);
        return;
      case "content_block_delta":
        this.#readDelta(event["index"], objectOf(event["delta"]) ?? {}, events);
        return;
      case "content_block_stop":
        this.#endBlock(event["index"], events);
        return;
      case "message_delta":
        this.#readMessageDelta(event, events);
        return;
      case "message_stop":
        if (this.#state !== "waiting") this.#end(events);
        return;
      case "error":
        this.#fail(readErrorEvent(event), events);
    }
  }

  #start(message: JsonObject, events: AnswerEvent[]): void {
    const { id, model } = message;
    if (this.#state !== "waiting") {
      // Some gateways send the same start twice; another message means that a proxy has asked again.
      if (this.#state === "telling" && id !== this.#id) this.#fail(begunAgain, events);
      return;
    }
    this.#state = "telling";
    this.#id = id;
    this.#figures.start(objectOf(message["usage"]) ?? {});
    events.push(startEvent({ id, model }, this.#upstream));
    this.#readContent(message, events);
  }

  /** The content of a whole message. A streamed one has some only for a call that Anthropic's code execution makes. */
  #readContent(message: JsonObject, events: AnswerEvent[]): void {
    const content = listOf(message["content"]);
    for (const [index, block] of content.entries()) {
      this.#startBlock(index, objectOf(block) ?? {}, events);
      this.#endBlock(index, events);
    }
    if (content.length > 0) this.#stopAtStart = message;
  }

  #startBlock(index: unknown, start: JsonObject, events: AnswerEvent[]): void {
    if (this.#state !== "telling" || this.#blocks.has(index)) return;
    const block = this.#blockOf(start);
    const queued = block === undefined ? undefined : this.#queue.begin(block, events);
    this.#blocks.set(index, { queued, start, json: "" });
    if (queued !== undefined) this.#emitStart(queued, start, events);
  }

  /** The start of the block; undefined for one that can only be emitted when complete. */
  #blockOf(start: JsonObject): AnswerBlock | undefined {
    switch (start["type"]) {
      case "text":
        return { kind: "text", text: "" };
      case "thinking":
        return { kind: "reasoning", text: "" };
      case "redacted_thinking":
        return { kind: "reasoning", text: "", redacted: true, signature: this.#sign(stringOf(start["data"])) };
      case "tool_use":
        return {
          kind: "tool-call",
          callId: stringOf(start["id"]) || `call_${this.#upstream.callId}${this.#blocks.size}`,
          name: stringOf(start["name"]),
          arguments: "",
          ...(isByProgram(start) ? { byProgram: true } : {}),
        };
      default:
        return undefined;
    }
  }

  /** The content that a block may have at its start, and has in a whole message. */
  #emitStart(queued: QueuedBlock, start: JsonObject, events: AnswerEvent[]): void {
    const text = stringOf(start["text"]) || stringOf(start["thinking"]);
    if (text !== "") queued.add(text, events);
    if (stringOf(start["signature"]) !== "") queued.sign(this.#sign(stringOf(start["signature"])), events);
    const citations = listOf(start["citations"]);
    for (const citation of citations) this.#cite(queued, citation, events);
  }

  #readDelta(index: unknown, delta: JsonObject, events: AnswerEvent[]): void {
    const block = this.#blocks.get(index);
    if (block === undefined) return;
    const { queued } = block;
    if (queued?.startKnown === true || queued?.ended === true) {
      const message = "The upstream added to a block that it had ended.";
      this.#fail({ kind: "server", code: "upstream_invalid_answer", message }, events);
      return;
    }
    switch (delta["type"]) {
      case "text_delta":
        this.#add(queued, stringOf(delta["text"]), events);
        return;
      case "thinking_delta":
        this.#add(queued, stringOf(delta["thinking"]), events);
        return;
      case "signature_delta":
        queued?.sign(this.#sign(stringOf(delta["signature"])), events);
        return;
      case "citations_delta":
        if (queued !== undefined) this.#cite(queued, delta["citation"], events);
        return;
      case "input_json_delta": {
        const json = stringOf(delta["partial_json"]);
        if (json === "") return;
        block.json += json;
        this.#add(queued, json, events);
        return;
      }
      case "compaction_delta": {
        const { type: _, ...more } = delta;
        block.start = grown(block.start, more);
      }
    }
  }

  #add(queued: QueuedBlock | undefined, text: string, events: AnswerEvent[]): void {
    this.#hasText ||= text !== "";
    queued?.add(text, events);
  }

  #endBlock(index: unknown, events: AnswerEvent[]): void {
    const block = this.#blocks.get(index);
    if (block === undefined) return;
    this.#blocks.set(index, { ...block, start: {} });
    const queued = block.queued ?? this.#beginNative(block, events);
    if (queued === undefined || queued.startKnown) return;
    const input = objectOf(block.start["input"]);
    // Some upstreams send the whole input at the start, without deltas.
    if (
      queued.start.kind === "tool-call" &&
      block.json === "" &&
      input !== undefined &&
      Object.keys(input).length > 0
    ) {
      queued.add(JSON.stringify(input), events);
    }
    queued.startKnown = true;
    this.#queue.advance(events);
  }

  /** Blocks of tools that the upstream runs are emitted whole. */
  #beginNative({ start, json }: UpstreamBlock, events: AnswerEvent[]): QueuedBlock | undefined {
    if (start["type"] === undefined) return undefined;
    const input = json === "" ? undefined : parseObject(json);
    const value = input === undefined ? start : { ...start, input };
    return this.#queue.begin({ kind: "native", dialect: "messages", value }, events);
  }

  #readMessageDelta(event: JsonObject, events: AnswerEvent[]): void {
    if (this.#state !== "telling" && this.#state !== "stopped") return;
    this.#figures.add(objectOf(event["usage"]) ?? {});
    const delta = objectOf(event["delta"]) ?? {};
    const reason = delta["stop_reason"];
    if (typeof reason !== "string" || this.#state === "stopped") return;
    this.#stop(delta, reason, events);
  }

  #stop(delta: JsonObject, reason: string, events: AnswerEvent[]): void {
    this.#state = "stopped";
    this.#queue.finish(events);
    const stop: Stop = { reason: readStopReason(reason) };
    if (typeof delta["stop_sequence"] === "string") stop.sequence = delta["stop_sequence"];
    const details = objectOf(delta["stop_details"]);
    if (details !== undefined) stop.details = details;
    events.push({ type: "stop", choice: 0, stop });
  }

  #end(events: AnswerEvent[]): void {
    if (this.#state === "telling") this.#stop(this.#stopAtStart, stringOf(this.#stopAtStart["stop_reason"]), events);
    this.#emitUsage(events);
    this.#state = "ended";
    events.push({ type: "end" });
  }

  #fail(failure: Failure, events: AnswerEvent[]): void {
    if (this.#state !== "waiting") this.#emitUsage(events);
    this.#state = "ended";
    events.push({ type: "error", failure });
  }

  #emitUsage(events: AnswerEvent[]): void {
    const figures = this.#figures.read(!this.#hasText);
    const usage = this.#upstream.readUsage({ usage: figures })?.usage;
    const serviceTier = readTier(figures["service_tier"]);
    if (usage !== undefined || serviceTier !== undefined) events.push({ type: "usage", usage, serviceTier });
  }

  #cite(queued: QueuedBlock, citation: unknown, events: AnswerEvent[]): void {
    const value = objectOf(citation);
    if (value !== undefined) queued.cite(readCitation(value, this.#upstream.origin), events);
  }

  #sign(value: string) {
    return { origin: this.#upstream.origin, value };
  }
}

/** What the client got of the first message cannot be withdrawn, and its thoughts do not fit the second. */
const begunAgain: Failure = {
  kind: "server",
  code: "upstream_interrupted",
  message: "The upstream broke off its answer and began another.",
};

/** A block whose members are appended to, or are given for the first time. */
function grown(start: JsonObject, more: JsonObject): JsonObject {
  const whole: Record<string, unknown> = { ...start };
  for (const [name, value] of Object.entries(more)) {
    if (value === null || value === undefined) continue;
    const before = whole[name];
    whole[name] = typeof before === "string" && typeof value === "string" ? before + value : value;
  }
  return whole;
}
