import { type JsonObject, parseObject } from "../../src/core/index.ts";
import {
  type Cited,
  count,
  type Counts,
  dataOf,
  list,
  object,
  onlyKnows,
  parse,
  type Piece,
  type Said,
  type Stop,
  text,
} from "./said.ts";

/** Reads a whole message. */
export function saidInMessages(message: JsonObject): Said {
  const pieces = list(message["content"]).map(readBlock);
  const told = object(message["usage"]);
  const usage = typeof told["output_tokens"] === "number" ? countsOf(told) : undefined;
  const choice = { pieces, stop: stopOf(message), secrets: [] };
  return { model: text(message["model"]) || undefined, choices: [choice], usage, failure: undefined };
}

/**
 * Reads a stream of Messages events into the message. One that begins a second time is broken off there, because sent
 * events cannot be withdrawn.
 */
export function saidInMessagesStream(stream: string): Said {
  const events = dataOf(stream).map(parse);
  const second = events.findIndex(({ type }, index) => type === "message_start" && index > 0);
  const message = new MessageOnTheWay();
  for (const event of second === -1 ? events : events.slice(0, second)) message.read(event);
  return { ...saidInMessages(message.whole), failure: message.failure };
}

class MessageOnTheWay {
  /** Why it is not whole; undefined once it is. */
  failure: string | undefined = "";
  #message: JsonObject = {};
  readonly #blocks: Record<string, unknown>[] = [];
  readonly #inputs = new Map<number, string>();

  get whole(): JsonObject {
    for (const [index, json] of this.#inputs) {
      const input = parseObject(json);
      const isWhole = json === "" || this.failure !== undefined;
      if (input !== undefined) Object.assign(this.#blocks[index] ?? {}, { input });
      else if (!isWhole) throw new Error(`no JSON object: ${json}`);
    }
    return { ...this.#message, content: this.#blocks };
  }

  read(event: JsonObject): void {
    const index = count(event["index"]);
    switch (event["type"]) {
      case "ping":
      case "content_block_stop":
        return;
      case "message_start":
        this.#message = object(event["message"]);
        this.#blocks.push(...list(this.#message["content"]).map((block) => ({ ...block })));
        return;
      case "content_block_start":
        this.#blocks[index] = { ...object(event["content_block"]) };
        return;
      case "content_block_delta":
        this.#addDelta(index, object(event["delta"]));
        return;
      case "message_delta":
        this.#message = { ...this.#message, ...object(event["delta"]), usage: laterUsage(this.#message, event) };
        return;
      case "message_stop":
        this.failure = undefined;
        return;
      case "error":
        this.failure = text(object(event["error"])["message"]);
        return;
      default:
        throw new Error(`no such event: ${String(event["type"])}`);
    }
  }

  #addDelta(index: number, { type, ...said }: JsonObject): void {
    const block = this.#blocks[index] ?? {};
    switch (type) {
      case "input_json_delta":
        this.#inputs.set(index, (this.#inputs.get(index) ?? "") + text(said["partial_json"]));
        return;
      case "citations_delta":
        block["citations"] = [...list(block["citations"]), said["citation"]];
        return;
      case "text_delta":
      case "thinking_delta":
      case "signature_delta":
      case "compaction_delta":
        for (const [member, more] of Object.entries(said)) block[member] = text(block[member]) + text(more);
        return;
      default:
        throw new Error(`no such delta: ${String(type)}`);
    }
  }
}

/** Figures replace the earlier ones; null leaves them. */
function laterUsage(message: JsonObject, event: JsonObject): JsonObject {
  const later = Object.entries(object(event["usage"])).filter(([, value]) => value !== null);
  return { ...object(message["usage"]), ...Object.fromEntries(later) };
}

function readBlock(block: JsonObject): Piece {
  switch (block["type"]) {
    case "text":
      onlyKnows(block, "a text", ["type", "text", "citations"]);
      // An image, which answers of this dialect do not have, is written in Markdown.
      if (text(block["text"]).startsWith("![image](data:")) {
        return { is: "media", value: { url: text(block["text"]).slice("![image](".length, -1) } };
      }
      return { is: "text", text: text(block["text"]), cited: list(block["citations"]).map(readCitation) };
    case "thinking":
      onlyKnows(block, "a thought", ["type", "thinking", "signature"]);
      return { is: "thought", text: text(block["thinking"]), summaries: [], secret: text(block["signature"]) };
    case "redacted_thinking":
      onlyKnows(block, "a thought in cipher", ["type", "data"]);
      return { is: "thought", text: "", summaries: [], secret: text(block["data"]) };
    case "tool_use":
      // `caller` names the tool of Anthropic's that requested the call.
      onlyKnows(block, "a call", ["type", "id", "name", "input", "caller"]);
      return {
        is: "call",
        id: text(block["id"]),
        name: text(block["name"]),
        arguments: JSON.stringify(block["input"]),
        custom: false,
      };
    default:
      return { is: "hosted", value: block };
  }
}

function readCitation(citation: JsonObject): Cited {
  if (citation["type"] !== "web_search_result_location") throw new Error(`a citation of ${String(citation["type"])}`);
  onlyKnows(citation, "a citation", ["type", "url", "title", "cited_text", "encrypted_index"]);
  return {
    url: text(citation["url"]),
    title: text(citation["title"]),
    quoted: text(citation["cited_text"]),
    start: undefined,
    end: undefined,
    secret: text(citation["encrypted_index"]) || undefined,
  };
}

const reasons: Readonly<Record<string, Stop["reason"]>> = {
  end_turn: "end",
  max_tokens: "length",
  model_context_window_exceeded: "context",
  stop_sequence: "sequence",
  tool_use: "calls",
  pause_turn: "pause",
  refusal: "refusal",
};

function stopOf({ stop_reason: word, stop_sequence: sequence }: JsonObject): Stop {
  const reason = reasons[text(word) || "end_turn"];
  if (reason === undefined) throw new Error(`no such stop_reason: ${text(word)}`);
  return { reason, sequence: text(sequence) || undefined };
}

/**
 * `iterations` counts each round separately, and the figures beside it omit those of compaction and of an advisor: the
 * usage is the sum. A round that a model declined and another one took over costs nothing.
 */
function countsOf(usage: JsonObject): Counts {
  const iterations = list(usage["iterations"]);
  const declined = iterations.some(({ type }) => type === "fallback_message");
  const rounds = iterations.length === 0 || declined ? [usage] : iterations;
  const sum = (read: (round: JsonObject) => number): number => rounds.reduce((total, round) => total + read(round), 0);
  const written = sum((round) => count(round["cache_creation_input_tokens"]));
  const cacheWrite1h = sum((round) => count(object(round["cache_creation"])["ephemeral_1h_input_tokens"]));
  const outs = object(usage["output_tokens_details"]);
  const [reasoning, outputImage] = [count(outs["thinking_tokens"]), count(outs["image_tokens"])];
  return {
    input: sum((round) => count(round["input_tokens"])),
    cacheRead: sum((round) => count(round["cache_read_input_tokens"])),
    cacheWrite5m: written - cacheWrite1h,
    cacheWrite1h,
    output: sum((round) => count(round["output_tokens"])) - reasoning - outputImage,
    outputImage,
    reasoning,
  };
}
