import { type JsonObject, listOf, objectOf, objectsOf, stringOf } from "../../../core/index.ts";
import type { AnswerBlock, AnswerEvent, BlockQueue, QueuedBlock, Signature } from "../../conversation/index.ts";
import { isServerRun } from "../client-tools.ts";
import { readCitation } from "./citations.ts";

/** A pending block, and its emitted parts. */
interface PendingBlock {
  queued: QueuedBlock;
  hasText: boolean;
  cited: boolean;
}

/** The parts of the answer that the reader of an item needs. */
interface ItemContext {
  queue: BlockQueue;
  origin: string;
  /** The id of a call without one. */
  callIdDefault: string;
  /** Nobody can look thoughts up: those without a seal are marked as their maker's, for other upstreams of this dialect. */
  marksThoughts: boolean;
}

/**
 * One output item of a stream: its events in, answer events out. A message becomes a block for each of its parts; a
 * thought or a call is one block; an item of a tool that the upstream runs is emitted when complete. Content missing in
 * the events is taken from the whole part or item at its end.
 */
export class ItemReader {
  readonly #queue: BlockQueue;
  readonly #origin: string;
  readonly #callIdDefault: string;
  readonly #marksThoughts: boolean;
  /** By the upstream's indices, in order of arrival; undefined for a part without content. */
  readonly #parts = new Map<unknown, PendingBlock | undefined>();
  /** Summaries by the upstream's numbers, in order of arrival. */
  readonly #summaries: unknown[] = [];
  #item: JsonObject;
  #block: PendingBlock | undefined;
  #ended = false;

  constructor(item: JsonObject, { queue, origin, callIdDefault, marksThoughts }: ItemContext, events: AnswerEvent[]) {
    this.#item = item;
    this.#queue = queue;
    this.#origin = origin;
    this.#callIdDefault = callIdDefault;
    this.#marksThoughts = marksThoughts;
    const start = this.#startOf(item);
    if (start !== undefined) this.#block = this.#begin(start, events);
  }

  get ended(): boolean {
    return this.#ended;
  }

  get type(): unknown {
    return this.#item["type"];
  }

  get isCall(): boolean {
    return this.#block?.queued.start.kind === "tool-call";
  }

  /** An event of this item, by its name without `response.`; unknown ones are skipped. */
  read(name: string, event: JsonObject, events: AnswerEvent[]): void {
    const part = event["content_index"];
    switch (name) {
      case "content_part.added":
        this.#part(part, objectOf(event["part"]) ?? {}, events);
        return;
      case "output_text.delta":
        this.#add(this.#part(part, { type: "output_text" }, events), event["delta"], events, event["logprobs"]);
        return;
      case "refusal.delta":
        this.#add(this.#part(part, { type: "refusal" }, events), event["delta"], events);
        return;
      case "output_text.annotation.added":
        this.#cite(this.#parts.get(part), event["annotation"], events);
        return;
      case "content_part.done":
        this.#endPart(part, objectOf(event["part"]) ?? {}, events);
        return;
      case "function_call_arguments.delta":
      case "custom_tool_call_input.delta":
      case "reasoning_text.delta":
        this.#add(this.#block, event["delta"], events);
        return;
      case "reasoning_summary_text.delta":
        this.#summarize(event["summary_index"], event["delta"], events);
    }
  }

  /** The whole item. */
  end(item: JsonObject, events: AnswerEvent[]): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#item = { ...this.#item, ...item };
    const start = this.#block === undefined ? this.#startOf(this.#item) : undefined;
    if (start !== undefined) this.#block = this.#begin(start, events);
    switch (this.#item["type"]) {
      case "message":
        this.#endMessage(events);
        return;
      case "reasoning":
        this.#endReasoning(events);
        return;
      case "function_call":
        this.#endCall(this.#item["arguments"], events);
        return;
      case "custom_tool_call":
        if (this.#block === undefined) this.#endHosted(events);
        else this.#endCall(this.#item["input"], events);
        return;
      default:
        this.#endHosted(events);
    }
  }

  #endHosted(events: AnswerEvent[]): void {
    this.#begin(readItem(this.#item), events).queued.startKnown = true;
    this.#queue.advance(events);
  }

  #startOf(item: JsonObject): AnswerBlock | undefined {
    const { type, id, call_id: callId, name, namespace } = item;
    if (isServerRun(item)) return undefined;
    const at = typeof id === "string" && id !== "" ? { id } : {};
    switch (type) {
      case "reasoning":
        return { kind: "reasoning", ...at, text: "" };
      case "function_call":
      case "custom_tool_call":
        return {
          kind: "tool-call",
          ...at,
          callId: stringOf(callId) || this.#callIdDefault,
          name: stringOf(name),
          ...(typeof namespace === "string" && { namespace }),
          arguments: "",
          ...(type === "custom_tool_call" ? { custom: true } : {}),
        };
      default:
        return undefined;
    }
  }

  #begin(start: AnswerBlock, events: AnswerEvent[]): PendingBlock {
    return { queued: this.#queue.begin(start, events), hasText: false, cited: false };
  }

  /** A part of a message, begun if it is new; undefined for a part without content. */
  #part(index: unknown, { type }: JsonObject, events: AnswerEvent[]): PendingBlock | undefined {
    const before = this.#parts.get(index);
    if (before !== undefined || this.#item["type"] !== "message") return before;
    const kind = type === "output_text" ? "text" : type === "refusal" ? "refusal" : undefined;
    const id = stringOf(this.#item["id"]);
    const part = kind && this.#begin({ kind, ...(id === "" ? {} : { id }), text: "" }, events);
    this.#parts.set(index, part);
    return part;
  }

  #add(block: PendingBlock | undefined, delta: unknown, events: AnswerEvent[], logprobs?: unknown): void {
    const text = stringOf(delta);
    if (text === "" || block === undefined || block.queued.startKnown || block.queued.ended) return;
    block.hasText = true;
    block.queued.add(text, events, objectsIn(logprobs));
  }

  #cite(block: PendingBlock | undefined, annotation: unknown, events: AnswerEvent[]): void {
    const value = objectOf(annotation);
    if (value === undefined || block === undefined || block.queued.startKnown || block.queued.ended) return;
    block.cited = true;
    block.queued.cite(readCitation(value), events);
  }

  #summarize(number: unknown, delta: unknown, events: AnswerEvent[]): void {
    const text = stringOf(delta);
    const block = this.#block;
    if (text === "" || block?.queued.start.kind !== "reasoning" || block.queued.startKnown || block.queued.ended)
      return;
    if (!this.#summaries.includes(number)) this.#summaries.push(number);
    block.queued.add(text, events, undefined, this.#summaries.indexOf(number));
  }

  #endPart(index: unknown, part: JsonObject, events: AnswerEvent[]): void {
    const block = this.#part(index, part, events);
    if (block === undefined || block.queued.startKnown) return;
    if (!block.hasText) this.#add(block, part["text"] ?? part["refusal"], events, part["logprobs"]);
    if (!block.cited)
      for (const annotation of objectsIn(part["annotations"]) ?? []) this.#cite(block, annotation, events);
    this.#markStarted(block, events);
  }

  #endMessage(events: AnswerEvent[]): void {
    const content: unknown = this.#item["content"];
    const parts = listOf(content);
    // Some upstreams count the parts of a stream from 1: the nth part of the list is the nth that was streamed.
    const streamed = [...this.#parts.keys()];
    for (const [number, part] of parts.entries()) {
      const index = number < streamed.length ? streamed[number] : `whole ${number}`;
      this.#endPart(index, objectOf(part) ?? {}, events);
    }
    for (const block of this.#parts.values()) if (block !== undefined) this.#markStarted(block, events);
  }

  #endReasoning(events: AnswerEvent[]): void {
    const block = this.#block;
    if (block === undefined) return;
    const { content, summary, encrypted_content: sealed } = this.#item;
    if (!block.hasText) for (const part of objectsIn(content) ?? []) this.#add(block, part["text"], events);
    const hasSummaries = this.#summaries.length > 0;
    const summaries = hasSummaries ? [] : (objectsIn(summary) ?? []);
    for (const [number, part] of summaries.entries()) this.#summarize(number, part["text"], events);
    const isSealed = typeof sealed === "string" && sealed !== "";
    if ((isSealed || this.#marksThoughts) && !block.queued.startKnown)
      block.queued.sign(this.#sign(isSealed ? sealed : ""), events);
    this.#markStarted(block, events);
  }

  #endCall(text: unknown, events: AnswerEvent[]): void {
    if (this.#block === undefined) return;
    if (!this.#block.hasText) this.#add(this.#block, text, events);
    this.#markStarted(this.#block, events);
  }

  #markStarted(block: PendingBlock, events: AnswerEvent[]): void {
    block.queued.startKnown = true;
    this.#queue.advance(events);
  }

  #sign(value: string): Signature {
    return { origin: this.#origin, value };
  }
}

/** A whole item of a tool that the upstream runs. The image that one has made is an image in each dialect. */
function readItem(item: JsonObject): AnswerBlock {
  const { type, result, output_format: format } = item;
  const native = { dialect: "responses", value: item } as const;
  if (type !== "image_generation_call" || typeof result !== "string" || result === "")
    return { kind: "native", ...native };
  const mediaType = `image/${stringOf(format) || "png"}`;
  return { kind: "image", source: { kind: "base64", mediaType, data: result }, native };
}

/** Objects of a list; undefined if there are none. */
function objectsIn(value: unknown): JsonObject[] | undefined {
  return listOf(value).length === 0 ? undefined : objectsOf(value);
}
