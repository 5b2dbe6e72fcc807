import { type JsonObject, listOf, objectOf, parseObject } from "../../core/index.ts";
import { type ChargedUsage, dataOf, eventsOf, type StreamObserver } from "../../streaming/index.ts";
import { writeChatUsage } from "./answers/write-usage.ts";

/**
 * Makes a chat stream regular that differs from OpenAI's where clients stumble over it: tool calls without `index`, by which
 * they join fragments; the reason `stop` after calls, which they run after `tool_calls` alone; and a usage in every chunk,
 * which some take for the mark of the last one. The usage becomes a chunk of its own, the charged one, for a client that
 * asked for it. Calls are whole in their chunks. Chunks that are regular keep their bytes.
 */
export function regularChatStream(inner: StreamObserver, charged: ChargedUsage | undefined): StreamObserver {
  return new RegularChatStream(inner, charged);
}

class RegularChatStream implements StreamObserver {
  readonly #inner: StreamObserver;
  readonly #charged: ChargedUsage | undefined;
  /** The calls so far, by choice. */
  readonly #calls = new Map<unknown, number>();
  /** The last chunk with a usage, as one without choices. */
  #usageChunk: JsonObject | undefined;

  constructor(inner: StreamObserver, charged: ChargedUsage | undefined) {
    this.#inner = inner;
    this.#charged = charged;
  }

  get usage(): StreamObserver["usage"] {
    return this.#inner.usage;
  }

  get outputBytes(): number {
    return this.#inner.outputBytes;
  }

  get outputBytesSinceUsage(): number {
    return this.#inner.outputBytesSinceUsage ?? 0;
  }

  get done(): boolean {
    return this.#inner.done;
  }

  get complete(): boolean {
    return this.#inner.complete;
  }

  get failed(): boolean {
    return this.#inner.failed;
  }

  see(block: Buffer): Buffer {
    return Buffer.concat([...eventsOf(this.#inner.see(block))].map((event) => this.#regular(event)));
  }

  #regular(event: Buffer): Buffer {
    const data = dataOf(event);
    if (data === undefined) return event;
    if (data.trim() === "[DONE]") return Buffer.concat([this.#ownUsage(), event]);
    const chunk = parseObject(data);
    if (chunk === undefined) return event;
    const choices = listOf(chunk["choices"]);
    const regular = choices.map((choice) => this.#regularChoice(objectOf(choice) ?? {}));
    const hasUsage = choices.length > 0 && objectOf(chunk["usage"]) !== undefined;
    if (hasUsage) this.#usageChunk = { ...chunk, choices: [] };
    if (!hasUsage && regular.every((choice, index) => choice === choices[index])) return event;
    const { usage: _, ...rest } = chunk;
    return eventWith({ ...(hasUsage ? rest : chunk), choices: regular });
  }

  #ownUsage(): Buffer {
    if (this.#usageChunk === undefined || this.#charged === undefined) return Buffer.alloc(0);
    const { usage, outputBytes } = this.#inner;
    return eventWith({ ...this.#usageChunk, usage: writeChatUsage(this.#charged(usage, outputBytes)) });
  }

  #regularChoice(choice: JsonObject): JsonObject {
    const delta = objectOf(choice["delta"]);
    const calls = listOf(delta?.["tool_calls"]);
    const place = choice["index"] ?? 0;
    let regular = choice;
    if (calls.length > 0) {
      const before = this.#calls.get(place) ?? 0;
      this.#calls.set(place, before + calls.length);
      if (calls.some((call) => objectOf(call)?.["index"] === undefined)) {
        const indexed = calls.map((call, index) => ({ index: before + index, ...objectOf(call) }));
        regular = { ...regular, delta: { ...delta, tool_calls: indexed } };
      }
    }
    if (regular["finish_reason"] !== "stop" || !this.#calls.has(place)) return regular;
    return { ...regular, finish_reason: "tool_calls" };
  }
}

function eventWith(chunk: JsonObject): Buffer {
  return Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`);
}
