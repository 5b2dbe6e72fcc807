import { type JsonObject, stringOf, type Usage } from "../../../core/index.ts";
import type {
  AnswerBlock,
  AnswerEvent,
  Citation,
  ClientContext,
  DeltaEvent,
  Failure,
  ImagePart,
  ReasoningPart,
  RefusalPart,
  StartEvent,
  StopReason,
  StreamWriter,
  TextPart,
  ToolCallPart,
} from "../../conversation/index.ts";
import { writeLogprob, writeOutputText, writeRefusal } from "../requests/write-parts.ts";
import { writeCitations } from "./citations.ts";
import { writeStreamError } from "./failures.ts";
import {
  argumentsOf,
  callItem,
  callSignatureItem,
  endItem,
  imageItem,
  itemId,
  type ItemStatus,
  messageItem,
  reasoningItem,
  summaryPart,
  textOfImage,
} from "./output-items.ts";
import { ResponseWriter } from "./response-object.ts";
import { type ResponseEnd, writeResponseEnd } from "./stop-reasons.ts";
import { writeUsage } from "./usage.ts";

/** The emitted part of the open block. */
interface OpenBlock {
  block: AnswerBlock;
  /** The block's position in the stream, as members of its events. */
  place: string;
  text: string;
  citations: Citation[];
  logprobs: JsonObject[];
  /** Of a thought: the summaries, and the upstream's number of the last one. */
  summaries: string[];
  summary: number | undefined;
}

/** An item that has been announced and not ended. */
interface OpenItem {
  id: string;
  /** The parts of a message so far; undefined for any other item. */
  content: JsonObject[] | undefined;
  /** The item's final form. */
  whole: JsonObject;
}

/**
 * Answer events to Responses events:
 *
 *   created, in_progress, for every item: (output_item.added, its content, output_item.done); completed | incomplete
 *
 * An item ends when the next one begins or the answer stops: only then is it known whether more of a message follows,
 * and whether it was cut off. An error ends a stream with `error`, for clients that know only that, and `failed`.
 */
export class ResponsesStreamWriter implements StreamWriter {
  readonly #client: ClientContext;
  #response: ResponseWriter | undefined;
  #sequence = 0;
  /** Items that have ended, as JSON text. */
  readonly #output: string[] = [];
  #item: OpenItem | undefined;
  #openBlock: OpenBlock | undefined;
  #characters = 0;
  #ending: ResponseEnd = writeResponseEnd("end");
  #usage: Usage | undefined;
  #serviceTier: string | undefined;

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
        this.#openBlock?.citations.push(event.citation);
        return "";
      case "signature":
        if (this.#openBlock?.block.kind === "reasoning")
          this.#openBlock.block = { ...this.#openBlock.block, signature: event.signature };
        return "";
      case "block-end":
        return this.#endBlock();
      case "stop":
        return this.#stop(event.stop.reason);
      case "usage":
        this.#usage = event.usage ?? this.#usage;
        this.#serviceTier = event.serviceTier ?? this.#serviceTier;
        return "";
      case "end":
        return this.#end();
      case "error":
        return this.#fail(event.failure);
    }
  }

  /** An event, from its members as JSON text. */
  #event(type: string, members: string): string {
    const number = this.#sequence;
    this.#sequence += 1;
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${number},${members}}\n\n`;
  }

  #start({ model, created }: StartEvent): string {
    this.#response = new ResponseWriter(this.#client, model, created);
    const response = `"response":${this.#response.write({ status: "in_progress", output: [] })}`;
    return this.#event("response.created", response) + this.#event("response.in_progress", response);
  }

  #startBlock(block: AnswerBlock): string {
    switch (block.kind) {
      case "text":
      case "refusal":
        return this.#startPart(block);
      case "reasoning":
        return this.#startReasoning(block);
      case "tool-call":
        return this.#startCall(block);
      case "image":
        return this.#showImage(block);
      case "native":
        this.#openBlock = undefined;
        // Content that only another dialect can express is omitted.
        if (block.dialect !== "responses") return "";
        return this.#endItem("completed") + this.#open(block.value, block.value);
    }
  }

  #open(added: JsonObject, whole: JsonObject, content?: JsonObject[]): string {
    this.#item = { id: stringOf(added["id"]), content, whole };
    return this.#event(
      "response.output_item.added",
      `"output_index":${this.#output.length},"item":${JSON.stringify(added)}`,
    );
  }

  #endItem(status: ItemStatus): string {
    const item = this.#item;
    if (item === undefined) return "";
    this.#item = undefined;
    const whole = JSON.stringify(endItem(item.whole, status));
    const done = this.#event("response.output_item.done", `"output_index":${this.#output.length},"item":${whole}`);
    this.#output.push(whole);
    return done;
  }

  /** Text continues the open message, unless it is known to belong to another. */
  #startPart(block: TextPart | RefusalPart): string {
    let shown = "";
    let content = this.#item?.content;
    if (content === undefined || (block.id !== undefined && block.id !== this.#item?.id)) {
      shown = this.#endItem("completed");
      const id = block.id ?? this.#newId("msg");
      content = [];
      shown += this.#open(messageItem(id, "in_progress", []), messageItem(id, "completed", content), content);
    }
    this.#begin(block, `,"content_index":${content.length}`);
    return shown + this.#partEvent("response.content_part.added", emptyPart(block));
  }

  #partEvent(type: string, part: JsonObject): string {
    return this.#event(type, `${this.#openBlock?.place},"part":${JSON.stringify(part)}`);
  }

  #newId(prefix: Parameters<typeof itemId>[0]): string {
    return itemId(prefix, this.#client.callId, this.#output.length);
  }

  #begin(block: AnswerBlock, more = ""): void {
    const id = JSON.stringify(this.#item?.id ?? "");
    const place = `"item_id":${id},"output_index":${this.#output.length}${more}`;
    this.#openBlock = { block, place, text: "", citations: [], logprobs: [], summaries: [], summary: undefined };
  }

  #startReasoning(block: ReasoningPart): string {
    const ended = this.#endItem("completed");
    const id = block.id ?? this.#newId("rs");
    const added = reasoningItem({}, id, []);
    const shown = ended + this.#open(added, added);
    this.#begin(block);
    return shown;
  }

  #showImage(image: ImagePart): string {
    this.#openBlock = undefined;
    const { source } = image;
    if (source.kind !== "base64") {
      const { kind, text } = textOfImage(image);
      return this.#startPart({ kind, text: "" }) + this.#writeDelta({ type: "delta", choice: 0, index: 0, text });
    }
    const ended = this.#endItem("completed");
    const whole = imageItem(image, source.data, this.#newId("ig"));
    const id = stringOf(whole["id"]);
    const shown = ended + this.#open({ ...whole, status: "in_progress", result: null }, whole);
    const place = `"item_id":${JSON.stringify(id)},"output_index":${this.#output.length}`;
    return shown + this.#event("response.image_generation_call.completed", place);
  }

  #startCall(block: ToolCallPart): string {
    let shown = this.#endItem("completed");
    const carried = callSignatureItem(block, this.#newId("rs"));
    if (carried !== undefined) shown += this.#open(carried, carried) + this.#endItem("completed");
    const id = block.id ?? this.#newId(block.custom === true ? "ctc" : "fc");
    const added = callItem(block, id, "in_progress", "");
    shown += this.#open(added, added);
    this.#begin(block);
    return shown;
  }

  #writeDelta({ text, summary, logprobs }: DeltaEvent): string {
    const said = this.#openBlock;
    if (said === undefined) return "";
    this.#characters += text.length;
    switch (said.block.kind) {
      case "text": {
        said.text += text;
        const probs = logprobs?.map(writeLogprob);
        if (probs !== undefined) said.logprobs.push(...probs);
        const likely = probs === undefined ? "[]" : JSON.stringify(probs);
        return this.#event(
          "response.output_text.delta",
          `${said.place},"delta":${JSON.stringify(text)},"logprobs":${likely}`,
        );
      }
      case "refusal":
        said.text += text;
        return this.#deltaEvent("response.refusal.delta", said, text);
      case "tool-call":
        said.text += text;
        return this.#deltaEvent(argumentsEvent(said.block, "delta"), said, text);
      case "reasoning":
        return this.#writeThought(said, text, summary ?? -1);
      case "image":
      case "native":
        return "";
    }
  }

  #deltaEvent(type: string, { place }: OpenBlock, text: string): string {
    return this.#event(type, `${place},"delta":${JSON.stringify(text)}`);
  }

  /** `summary` is -1 for the thought itself, which becomes a separate summary. */
  #writeThought(said: OpenBlock, text: string, summary: number): string {
    let shown = "";
    if (said.summary !== summary) {
      shown = this.#endSummary(said);
      said.summary = summary;
      said.text = "";
      shown += this.#event(
        "response.reasoning_summary_part.added",
        `${summaryPlace(said)},"part":${JSON.stringify(summaryPart(""))}`,
      );
    }
    said.text += text;
    return (
      shown +
      this.#event("response.reasoning_summary_text.delta", `${summaryPlace(said)},"delta":${JSON.stringify(text)}`)
    );
  }

  #endSummary(said: OpenBlock): string {
    if (said.summary === undefined) return "";
    const { text } = said;
    const place = summaryPlace(said);
    said.summaries.push(text);
    said.summary = undefined;
    return (
      this.#event("response.reasoning_summary_text.done", `${place},"text":${JSON.stringify(text)}`) +
      this.#event("response.reasoning_summary_part.done", `${place},"part":${JSON.stringify(summaryPart(text))}`)
    );
  }

  #endBlock(): string {
    const said = this.#openBlock;
    if (said === undefined) return "";
    const shown = this.#endSaid(said);
    this.#openBlock = undefined;
    return shown;
  }

  #endSaid(said: OpenBlock): string {
    const { block, place, text } = said;
    switch (block.kind) {
      case "text":
        return this.#endText(said);
      case "refusal": {
        const part = writeRefusal(text);
        this.#item?.content?.push(part);
        const done = this.#event("response.refusal.done", `${place},"refusal":${JSON.stringify(text)}`);
        return done + this.#partEvent("response.content_part.done", part);
      }
      case "tool-call":
        return this.#endCall(block, said);
      case "reasoning": {
        const shown = this.#endSummary(said);
        if (this.#item !== undefined) this.#item.whole = reasoningItem(block, this.#item.id, said.summaries);
        return shown;
      }
      case "image":
      case "native":
        return "";
    }
  }

  #endText({ place, text, citations, logprobs }: OpenBlock): string {
    const annotations = writeCitations(citations, text);
    const part = { ...writeOutputText({ text }), annotations, logprobs };
    this.#item?.content?.push(part);
    const cited = annotations.map((annotation, index) =>
      this.#event(
        "response.output_text.annotation.added",
        `${place},"annotation_index":${index},"annotation":${JSON.stringify(annotation)}`,
      ),
    );
    const end = `${place},"text":${JSON.stringify(text)},"logprobs":${JSON.stringify(logprobs)}`;
    const done = this.#event("response.output_text.done", end) + this.#partEvent("response.content_part.done", part);
    return cited.join("") + done;
  }

  #endCall(call: ToolCallPart, said: OpenBlock): string {
    const whole = argumentsOf(said.text, call.custom);
    const missing = whole === said.text ? "" : this.#deltaEvent(argumentsEvent(call, "delta"), said, whole);
    const named =
      call.custom === true
        ? `"input":${JSON.stringify(whole)}`
        : `"name":${JSON.stringify(call.name)},"arguments":${JSON.stringify(whole)}`;
    if (this.#item !== undefined) this.#item.whole = callItem(call, this.#item.id, "completed", whole);
    return missing + this.#event(argumentsEvent(call, "done"), `${said.place},${named}`);
  }

  #stop(reason: StopReason): string {
    this.#ending = writeResponseEnd(reason);
    return this.#endItem(this.#ending.status);
  }

  #end(): string {
    if (this.#response === undefined) return "";
    const last = this.#endItem(this.#ending.status);
    const { status } = this.#ending;
    const response = this.#response.write({
      ...this.#ending,
      output: this.#output,
      usage: writeUsage(this.#usage, this.#client, this.#characters),
      serviceTier: this.#serviceTier,
    });
    return `${last}${this.#event(`response.${status}`, `"response":${response}`)}data: [DONE]\n\n`;
  }

  #fail(failure: Failure): string {
    const { error, code, message } = writeStreamError(failure);
    const event = this.#event("error", JSON.stringify(error).slice(1, -1));
    if (this.#response === undefined) return event;
    const usage = this.#usage === undefined ? undefined : writeUsage(this.#usage, this.#client, this.#characters);
    const response = this.#response.write({ status: "failed", error: { code, message }, output: this.#output, usage });
    return event + this.#event("response.failed", `"response":${response}`);
  }
}

function emptyPart({ kind }: TextPart | RefusalPart): JsonObject {
  return kind === "text" ? writeOutputText({ text: "" }) : writeRefusal("");
}

function argumentsEvent({ custom }: ToolCallPart, what: "delta" | "done"): string {
  return custom === true ? `response.custom_tool_call_input.${what}` : `response.function_call_arguments.${what}`;
}

function summaryPlace({ place, summaries }: OpenBlock): string {
  return `${place},"summary_index":${summaries.length}`;
}
