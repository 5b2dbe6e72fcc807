import { type JsonObject, objectOf, type Usage } from "../../../core/index.ts";
import type {
  AnswerBlock,
  AnswerEvent,
  BlockStartEvent,
  Citation,
  ClientContext,
  DeltaEvent,
  StartEvent,
  StreamWriter,
} from "../../conversation/index.ts";
import { writeOpenaiError } from "../../openai-failures.ts";
import { writeCitations } from "./citations.ts";
import { writeImage } from "./images.ts";
import { writeFinishReason } from "./stop-reasons.ts";
import { identityOf, ownThoughts, signatureOfCall, writeReasoningDetail } from "./write-answer.ts";
import { writeChatUsage } from "./write-usage.ts";

/** The emitted parts of one choice. */
interface PendingChoice {
  block: AnswerBlock | undefined;
  /** Characters of content so far, and the start of the open block in them. */
  written: number;
  from: number;
  calls: number;
  images: number;
  details: number;
  citations: Citation[];
  /** Whether the open block has had a delta. */
  hasDelta: boolean;
  /** Whether the text of the open thought was emitted, and not only summaries. */
  thought: boolean;
}

/** Answer events to chat completion chunks. */
export class ChatStreamWriter implements StreamWriter {
  readonly #client: ClientContext;
  readonly #includesUsage: boolean;
  readonly #choices: PendingChoice[] = [];
  /** The parts of a chunk before and after its choices: equal in all of them. */
  #head = "";
  #tail = "";
  #usage: Usage | undefined;
  #serviceTier: string | undefined;

  constructor(client: ClientContext) {
    this.#client = client;
    this.#includesUsage = objectOf(client.request["stream_options"])?.["include_usage"] === true;
    this.#tail = this.#includesUsage ? `],"usage":null}\n\n` : "]}\n\n";
  }

  write(event: AnswerEvent): string {
    switch (event.type) {
      case "start":
        return this.#start(event);
      case "block-start":
        return this.#startBlock(event);
      case "delta":
        return this.#writeDelta(event);
      case "citation":
        this.#choices[event.choice]?.citations.push(event.citation);
        return "";
      case "signature":
        this.#sign(event.choice, event.signature);
        return "";
      case "native":
        return "";
      case "block-end":
        return this.#endBlock(event.choice);
      case "stop":
        return this.#begin(event.choice) + this.#chunk(event.choice, "{}", `"${writeFinishReason(event.stop.reason)}"`);
      case "usage":
        this.#usage = event.usage ?? this.#usage;
        this.#serviceTier = event.serviceTier ?? this.#serviceTier;
        return "";
      case "end":
        return `${this.#lastChunk()}data: [DONE]\n\n`;
      case "error":
        return `data: ${JSON.stringify(writeOpenaiError(event.failure))}\n\n`;
    }
  }

  #start(event: StartEvent): string {
    const identity = { ...identityOf(event, this.#client), object: "chat.completion.chunk" };
    this.#head = `data: ${JSON.stringify(identity).slice(0, -1)},"choices":[`;
    return this.#begin(0);
  }

  /** The first chunk of a choice. */
  #begin(index: number): string {
    if (this.#choices[index] !== undefined) return "";
    this.#choices[index] = {
      block: undefined,
      written: 0,
      from: 0,
      calls: 0,
      images: 0,
      details: 0,
      citations: [],
      hasDelta: false,
      thought: false,
    };
    return this.#chunk(index, `{"role":"assistant","content":"","refusal":null}`);
  }

  #chunk(index: number, delta: string, reason = "null", logprobs = "null"): string {
    const choice = `{"index":${index},"delta":${delta},"logprobs":${logprobs},"finish_reason":${reason}}`;
    return this.#head + choice + this.#tail;
  }

  #startBlock({ choice: index, block }: BlockStartEvent): string {
    const begun = this.#begin(index);
    const choice = this.#choices[index];
    if (choice === undefined) return begun;
    choice.block = block;
    choice.hasDelta = false;
    choice.thought = false;
    choice.from = choice.written;
    if (block.kind === "image") {
      const image = writeImage(block, choice.images);
      choice.images += 1;
      return begun + this.#chunk(index, JSON.stringify({ images: [image] }));
    }
    if (block.kind !== "tool-call") return begun;
    const { callId: id, name, custom, signature } = block;
    const call =
      custom === true
        ? { index: choice.calls, id, type: "custom", custom: { name, input: "" } }
        : {
            index: choice.calls,
            id,
            type: "function",
            function: { name, arguments: "" },
            ...signatureOfCall(signature),
          };
    choice.calls += 1;
    return begun + this.#chunk(index, JSON.stringify({ tool_calls: [call] }));
  }

  #writeDelta({ choice: index, text, summary, logprobs }: DeltaEvent): string {
    const choice = this.#choices[index];
    const block = choice?.block;
    if (choice === undefined || block === undefined) return "";
    choice.hasDelta = true;
    switch (block.kind) {
      case "text": {
        choice.written += text.length;
        const probs = logprobs === undefined ? "null" : JSON.stringify({ content: logprobs, refusal: null });
        return this.#chunk(index, `{"content":${JSON.stringify(text)}}`, "null", probs);
      }
      case "refusal":
        return this.#chunk(index, `{"refusal":${JSON.stringify(text)}}`);
      case "reasoning": {
        // Summaries are emitted if there is no other text.
        choice.thought ||= summary === undefined;
        const hidden = summary !== undefined && choice.thought;
        choice.block = { ...block, text: hidden ? block.text : block.text + text };
        return hidden ? "" : this.#chunk(index, `{"reasoning_content":${JSON.stringify(text)}}`);
      }
      case "tool-call":
        return this.#writeArguments(index, choice.calls - 1, text, block.custom === true);
      case "image":
      case "native":
        return "";
    }
  }

  #writeArguments(index: number, call: number, text: string, custom: boolean): string {
    const opening = custom ? `"custom":{"input":` : `"function":{"arguments":`;
    return this.#chunk(index, `{"tool_calls":[{"index":${call},${opening}${JSON.stringify(text)}}}]}`);
  }

  #sign(index: number, signature: { origin: string; value: string }): void {
    const choice = this.#choices[index];
    if (choice?.block?.kind === "reasoning") choice.block = { ...choice.block, signature };
  }

  #endBlock(index: number): string {
    const choice = this.#choices[index];
    const block = choice?.block;
    if (choice === undefined || block === undefined) return "";
    choice.block = undefined;
    switch (block.kind) {
      case "tool-call":
        return choice.hasDelta || block.custom === true
          ? ""
          : this.#writeArguments(index, choice.calls - 1, "{}", false);
      case "text":
        return this.#writeCitations(index, choice);
      case "reasoning": {
        const own = ownThoughts([block]);
        const members = { ...(own.details.length > 0 && { reasoning_details: own.details }), ...own.members };
        if (Object.keys(members).length > 0) return this.#chunk(index, JSON.stringify(members));
        const detail = writeReasoningDetail(block);
        if (detail === undefined) return "";
        const numbered: JsonObject = { ...detail, index: choice.details };
        choice.details += 1;
        return this.#chunk(index, JSON.stringify({ reasoning_details: [numbered] }));
      }
      default:
        return "";
    }
  }

  #writeCitations(index: number, choice: PendingChoice): string {
    const annotations = writeCitations(choice.citations, choice.from, choice.written);
    choice.citations = [];
    return annotations.length === 0 ? "" : this.#chunk(index, JSON.stringify({ annotations }));
  }

  #lastChunk(): string {
    if (!this.#includesUsage || this.#usage === undefined) return "";
    const tier = this.#serviceTier === undefined ? "" : `,"service_tier":${JSON.stringify(this.#serviceTier)}`;
    return `${this.#head}],"usage":${JSON.stringify(writeChatUsage(this.#usage))}${tier}}\n\n`;
  }
}
