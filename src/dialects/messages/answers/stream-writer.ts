import type { JsonObject, Usage } from "../../../core/index.ts";
import {
  type AnswerBlock,
  type AnswerEvent,
  type Citation,
  type ClientContext,
  type DeltaEvent,
  tagSignature,
  type Signature,
  type StartEvent,
  type Stop,
  type StreamWriter,
} from "../../conversation/index.ts";
import { writeCitation } from "./citations.ts";
import { writeMessagesError } from "./failures.ts";
import { writeImage } from "./images.ts";
import { writeDeltaUsage } from "./usage.ts";
import {
  messageHead,
  reasoningStart,
  taggedCall,
  startUsage,
  summarySeparator,
  toolUse,
  writeStop,
} from "./write-answer.ts";

/** The text of a delta up to its value. */
const deltas = {
  text: `"type":"text_delta","text":`,
  refusal: `"type":"text_delta","text":`,
  reasoning: `"type":"thinking_delta","thinking":`,
  "tool-call": `"type":"input_json_delta","partial_json":`,
  image: "",
  native: "",
} as const;

/** Answer events to Messages events. The stop is retained until the end, because its usage comes last upstream. */
export class MessagesStreamWriter implements StreamWriter {
  readonly #client: ClientContext;
  #block: AnswerBlock | undefined;
  /** The index of the next block; a block may become two, or none. */
  #index = 0;
  /** The event of a delta up to its text: most of a stream consists of these. */
  #deltaStart = "";
  #summary: number | undefined;
  #blockHasText = false;
  #refuses = false;
  /** Whether the answer has text. */
  #hasText = false;
  /** A thought after the text that has no text of its own so far: it is only written if something follows it. */
  #late = "";
  #signature: Signature | undefined;
  #stop: Stop = { reason: "end" };
  #usage: Usage = {};

  constructor(client: ClientContext) {
    this.#client = client;
  }

  write(event: AnswerEvent): string {
    // The dialect has one answer per request.
    if ("choice" in event && event.choice !== 0) return "";
    switch (event.type) {
      case "start":
        return this.#start(event);
      case "block-start":
        return this.#startBlock(event.block);
      case "delta":
        return this.#writeDelta(event);
      case "citation":
        return this.#cite(event.citation);
      case "signature":
        this.#signature = event.signature;
        return "";
      case "native":
        return "";
      case "block-end":
        return this.#endBlock();
      case "stop":
        this.#stop = event.stop;
        return "";
      case "usage":
        this.#usage = event.usage ?? this.#usage;
        return "";
      case "end":
        return this.#end();
      case "error":
        return sse("error", JSON.stringify(writeMessagesError(event.failure, this.#client.requestId)));
    }
  }

  #start({ model }: StartEvent): string {
    const message = {
      ...messageHead(model, this.#client),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
      usage: startUsage(this.#client),
    };
    return sse("message_start", JSON.stringify({ type: "message_start", message }));
  }

  #startBlock(block: AnswerBlock): string {
    this.#block = block;
    this.#summary = undefined;
    this.#blockHasText = false;
    this.#signature = undefined;
    const shown = this.#showStart(block);
    this.#deltaStart = this.#startDelta(deltas[block.kind]);
    if (block.kind !== "reasoning" || !this.#hasText) return this.#takeLate() + shown;
    this.#late += shown;
    return "";
  }

  #takeLate(): string {
    const late = this.#late;
    this.#late = "";
    return late;
  }

  #showStart(block: AnswerBlock): string {
    switch (block.kind) {
      case "refusal":
        this.#refuses = true;
        return this.#open({ type: "text", text: "", citations: [] });
      case "text":
        this.#hasText = true;
        return this.#open({ type: "text", text: "", citations: [] });
      case "reasoning":
        this.#signature = block.redacted === true ? undefined : block.signature;
        return this.#open(reasoningStart(block));
      case "tool-call":
        return this.#carrySignature(taggedCall(block)) + this.#open(toolUse(block));
      case "image": {
        this.#hasText = true;
        const start = this.#open({ type: "text", text: "", citations: [] });
        return start + this.#delta(`"type":"text_delta","text":${JSON.stringify(writeImage(block))}`);
      }
      case "native":
        return block.dialect === "messages" ? this.#openNative(block.value) : "";
    }
  }

  /** The input of a tool's use comes as deltas, also if it is known already: clients read no other. */
  #openNative(value: JsonObject): string {
    const { type, input } = value;
    if (type !== "server_tool_use" && type !== "mcp_tool_use") return this.#open(value);
    const start = this.#open({ ...value, input: {} });
    const text = JSON.stringify(JSON.stringify(input ?? {}));
    return start + this.#delta(`"type":"input_json_delta","partial_json":${text}`);
  }

  #carrySignature(sealed: string | undefined): string {
    if (sealed === undefined) return "";
    const start = this.#open({ type: "thinking", thinking: "", signature: "" });
    return start + this.#delta(`"type":"signature_delta","signature":${JSON.stringify(sealed)}`) + this.#close();
  }

  #open(block: JsonObject): string {
    const start = { type: "content_block_start", index: this.#index, content_block: block };
    return sse("content_block_start", JSON.stringify(start));
  }

  #delta(members: string): string {
    return `${this.#startDelta(members)}}}\n\n`;
  }

  /** A delta up to a position within its members. */
  #startDelta(members: string): string {
    return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#index},"delta":{${members}`;
  }

  #close(): string {
    const stop = sse("content_block_stop", `{"type":"content_block_stop","index":${this.#index}}`);
    this.#index += 1;
    return stop;
  }

  #writeDelta({ text, summary }: DeltaEvent): string {
    const block = this.#block;
    if (block === undefined || block.kind === "native" || block.kind === "image") return "";
    const begins = this.#blockHasText && summary !== this.#summary;
    this.#blockHasText = true;
    this.#summary = summary;
    const late = this.#late === "" ? "" : this.#takeLate();
    return `${late}${this.#deltaStart}${JSON.stringify(begins ? summarySeparator + text : text)}}}\n\n`;
  }

  #cite(citation: Citation): string {
    const written = writeCitation(citation);
    return written === undefined ? "" : this.#delta(`"type":"citations_delta","citation":${JSON.stringify(written)}`);
  }

  #endBlock(): string {
    const block = this.#block;
    this.#block = undefined;
    if (block === undefined || (block.kind === "native" && block.dialect !== "messages")) return "";
    if (block.kind !== "reasoning") return this.#close();
    const shown = this.#signed() + this.#close();
    if (this.#late === "") return shown;
    this.#late += shown;
    return "";
  }

  #signed(): string {
    if (this.#signature === undefined) return "";
    const sealed = JSON.stringify(tagSignature(this.#signature, "thought", "messages"));
    return this.#delta(`"type":"signature_delta","signature":${sealed}`);
  }

  #end(): string {
    const delta = {
      type: "message_delta",
      delta: writeStop(this.#stop, this.#refuses),
      usage: writeDeltaUsage(this.#usage),
    };
    return sse("message_delta", JSON.stringify(delta)) + sse("message_stop", `{"type":"message_stop"}`);
  }
}

function sse(name: string, data: string): string {
  return `event: ${name}\ndata: ${data}\n\n`;
}
