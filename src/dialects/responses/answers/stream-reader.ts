import { type JsonObject, listOf, objectOf, parseObject } from "../../../core/index.ts";
import {
  type AnswerEvent,
  BlockQueue,
  brokenOff,
  type Failure,
  readTier,
  startEvent,
  type StreamReader,
  type UpstreamContext,
} from "../../conversation/index.ts";
import { readStreamError } from "./failures.ts";
import { ItemReader } from "./item-reader.ts";
import { readStopReason } from "./stop-reasons.ts";

const PREFIX = "response.";

/** The items that a client returns in its own words. */
const ownItems: ReadonlySet<unknown> = new Set(["message", "reasoning", "function_call", "custom_tool_call"]);

/**
 * Responses events to answer events.
 *
 *   waiting ──response.created──▶ reading ──completed | incomplete──▶ ended "end"
 *      └────────────┴──an error event, failed, cancelled, or closed too early──▶ ended "error"
 */
export class ResponsesStreamReader implements StreamReader {
  readonly #upstream: UpstreamContext;
  readonly #queue = new BlockQueue(0, true);
  /** By their position in the output. */
  readonly #items = new Map<unknown, ItemReader>();
  #state: "waiting" | "telling" | "ended" = "waiting";

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
    this.#fail(brokenOff, events);
    return events;
  }

  /** A whole response, as the last event of the equivalent stream. */
  readResponse(response: JsonObject): AnswerEvent[] {
    const events: AnswerEvent[] = [];
    this.#end(response, events);
    return events;
  }

  #readEvent(event: JsonObject, events: AnswerEvent[]): void {
    const { type } = event;
    if (type === "error") this.#fail(readStreamError(event, "The upstream's stream failed."), events);
    if (typeof type !== "string" || !type.startsWith(PREFIX)) return;
    const name = type.slice(PREFIX.length);
    switch (name) {
      case "created":
      case "queued":
      case "in_progress":
        this.#start(objectOf(event["response"]) ?? {}, events);
        return;
      case "completed":
      case "incomplete":
      case "failed":
      case "cancelled":
        this.#end({ status: name, ...objectOf(event["response"]) }, events);
        return;
      default:
        if (this.#state === "telling") this.#readItemEvent(name, event, events);
    }
  }

  #start({ id, model, created_at: created }: JsonObject, events: AnswerEvent[]): void {
    if (this.#state !== "waiting") return;
    this.#state = "telling";
    events.push(startEvent({ id, model, created }, this.#upstream));
  }

  #readItemEvent(name: string, event: JsonObject, events: AnswerEvent[]): void {
    const index = event["output_index"];
    const item = this.#known(objectOf(event["item"]) ?? {});
    if (name === "output_item.added") {
      if (!this.#items.has(index)) this.#begin(index, item, events);
      return;
    }
    if (name === "output_item.done") {
      this.#endItem(index, item, events);
      return;
    }
    this.#items.get(index)?.read(name, event, events);
  }

  /** The item, with its id if that names it later. */
  #known(item: JsonObject): JsonObject {
    if (this.#upstream.hasNoStore !== true || !ownItems.has(item["type"])) return item;
    const { id: _, ...rest } = item;
    return rest;
  }

  #begin(index: unknown, item: JsonObject, events: AnswerEvent[]): ItemReader {
    const callIdDefault = `call_${this.#upstream.callId}${this.#items.size}`;
    const { origin, hasNoStore: marksThoughts = false } = this.#upstream;
    const reader = new ItemReader(item, { queue: this.#queue, origin, callIdDefault, marksThoughts }, events);
    this.#items.set(index, reader);
    return reader;
  }

  #endItem(index: unknown, item: JsonObject, events: AnswerEvent[]): void {
    if (item["type"] === undefined && !this.#items.has(index)) return;
    (this.#items.get(index) ?? this.#begin(index, item, events)).end(item, events);
  }

  /** The final response. Items without events are emitted now. */
  #end(response: JsonObject, events: AnswerEvent[]): void {
    this.#start(response, events);
    const { status, output, error } = response;
    if (status !== "completed" && status !== "incomplete") {
      const silence =
        status === "failed" ? "The upstream failed to answer." : "The upstream did not finish its answer.";
      this.#emitUsage(response, events);
      this.#fail(readStreamError({ error: objectOf(error) ?? {} }, silence), events);
      return;
    }
    this.#endOutput(listOf(output), events);
    this.#queue.finish(events);
    const hasCalls = [...this.#items.values()].some(({ isCall }) => isCall);
    events.push({ type: "stop", choice: 0, stop: { reason: readStopReason(response, hasCalls) } });
    this.#emitUsage(response, events);
    this.#state = "ended";
    events.push({ type: "end" });
  }

  /**
   * The whole list: its nth item of a type is the nth that was streamed of this type, since some upstreams count items in the
   * stream differently (from 1, or with thoughts that the list lacks).
   */
  #endOutput(output: readonly unknown[], events: AnswerEvent[]): void {
    const streamed = [...this.#items];
    for (const [number, value] of output.entries()) {
      const item = this.#known(objectOf(value) ?? {});
      const at = streamed.findIndex(([, { type }]) => type === item["type"]);
      const [found] = at === -1 ? [] : streamed.splice(at, 1);
      this.#endItem(found?.[0] ?? `whole ${number}`, item, events);
    }
  }

  #fail(failure: Failure, events: AnswerEvent[]): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    events.push({ type: "error", failure });
  }

  #emitUsage(response: JsonObject, events: AnswerEvent[]): void {
    const usage = this.#upstream.readUsage(response)?.usage;
    const serviceTier = readTier(response["service_tier"]);
    if (usage !== undefined || serviceTier !== undefined) events.push({ type: "usage", usage, serviceTier });
  }
}
