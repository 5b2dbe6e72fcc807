import { type JsonObject, stringOf, type Usage } from "../../../core/index.ts";
import type {
  AnswerBlock,
  AnswerEvent,
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
  imageItem,
  messageItem,
  reasoningItem,
  textOfImage,
} from "./output-items.ts";
import { endSummary, type OpenBlock, OutputWriter, writeThought } from "./output-writer.ts";
import { ResponseWriter } from "./response-object.ts";
import { type ResponseEnd, writeResponseEnd } from "./stop-reasons.ts";
import { writeUsage } from "./usage.ts";

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
  readonly #output: OutputWriter;
  #openBlock: OpenBlock | undefined;
  #ending: ResponseEnd = writeResponseEnd("end");
  #usage: Usage | undefined;
  #serviceTier: string | undefined;

  constructor(client: ClientContext) {
    this.#client = client;
    this.#output = new OutputWriter(client.callId);
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
      case "native":
        return this.#output.completeHosted(event.value);
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

  #start({ model, created }: StartEvent): string {
    this.#response = new ResponseWriter(this.#client, model, created);
    const response = `"response":${this.#response.write({ status: "in_progress", output: [] })}`;
    return this.#output.event("response.created", response) + this.#output.event("response.in_progress", response);
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
        return this.#output.endItem("completed") + this.#output.openHosted(block.value);
    }
  }

  /** Text continues the open message, unless it is known to belong to another. */
  #startPart(block: TextPart | RefusalPart): string {
    let shown = "";
    let content = this.#output.item?.content;
    if (content === undefined || (block.id !== undefined && block.id !== this.#output.item?.id)) {
      shown = this.#output.endItem("completed");
      const id = block.id ?? this.#output.newId("msg");
      content = [];
      shown += this.#output.open(messageItem(id, "in_progress", []), messageItem(id, "completed", content), content);
    }
    this.#begin(block, `,"content_index":${content.length}`);
    return shown + this.#output.part("response.content_part.added", this.#openBlock?.place, emptyPart(block));
  }

  #begin(block: AnswerBlock, more = ""): void {
    const id = JSON.stringify(this.#output.item?.id ?? "");
    const place = `"item_id":${id},"output_index":${this.#output.items.length}${more}`;
    this.#openBlock = { block, place, text: "", citations: [], logprobs: [], summaries: [], summary: undefined };
  }

  #startReasoning(block: ReasoningPart): string {
    const ended = this.#output.endItem("completed");
    const id = block.id ?? this.#output.newId("rs");
    const added = reasoningItem({}, id, []);
    const shown = ended + this.#output.open(added, added);
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
    const ended = this.#output.endItem("completed");
    const whole = imageItem(image, source.data, this.#output.newId("ig"));
    const id = stringOf(whole["id"]);
    const shown = ended + this.#output.open({ ...whole, status: "in_progress", result: null }, whole);
    const place = `"item_id":${JSON.stringify(id)},"output_index":${this.#output.items.length}`;
    return shown + this.#output.event("response.image_generation_call.completed", place);
  }

  #startCall(block: ToolCallPart): string {
    let shown = this.#output.endItem("completed");
    const carried = callSignatureItem(block, this.#output.newId("rs"));
    if (carried !== undefined) shown += this.#output.open(carried, carried) + this.#output.endItem("completed");
    const id = block.id ?? this.#output.newId(block.custom === true ? "ctc" : "fc");
    const added = callItem(block, id, "in_progress", "");
    shown += this.#output.open(added, added);
    this.#begin(block);
    return shown;
  }

  #writeDelta({ text, summary, logprobs }: DeltaEvent): string {
    const open = this.#openBlock;
    if (open === undefined) return "";
    switch (open.block.kind) {
      case "text": {
        open.text += text;
        const probs = logprobs?.map(writeLogprob);
        if (probs !== undefined) open.logprobs.push(...probs);
        const likely = probs === undefined ? "[]" : JSON.stringify(probs);
        return this.#output.event(
          "response.output_text.delta",
          `${open.place},"delta":${JSON.stringify(text)},"logprobs":${likely}`,
        );
      }
      case "refusal":
        open.text += text;
        return this.#output.delta("response.refusal.delta", open, text);
      case "tool-call":
        open.text += text;
        return this.#output.delta(argumentsEvent(open.block, "delta"), open, text);
      case "reasoning":
        return writeThought(this.#output, open, text, summary ?? -1);
      case "image":
      case "native":
        return "";
    }
  }

  #endBlock(): string {
    const open = this.#openBlock;
    if (open === undefined) return "";
    const shown = this.#endOpen(open);
    this.#openBlock = undefined;
    return shown;
  }

  #endOpen(open: OpenBlock): string {
    const { block, place, text } = open;
    switch (block.kind) {
      case "text":
        return this.#endText(open);
      case "refusal": {
        const part = writeRefusal(text);
        this.#output.item?.content?.push(part);
        const done = this.#output.event("response.refusal.done", `${place},"refusal":${JSON.stringify(text)}`);
        return done + this.#output.part("response.content_part.done", place, part);
      }
      case "tool-call":
        return this.#endCall(block, open);
      case "reasoning": {
        const shown = endSummary(this.#output, open);
        if (this.#output.item !== undefined)
          this.#output.item.whole = reasoningItem(block, this.#output.item.id, open.summaries);
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
    this.#output.item?.content?.push(part);
    const cited = annotations.map((annotation, index) =>
      this.#output.event(
        "response.output_text.annotation.added",
        `${place},"annotation_index":${index},"annotation":${JSON.stringify(annotation)}`,
      ),
    );
    const end = `${place},"text":${JSON.stringify(text)},"logprobs":${JSON.stringify(logprobs)}`;
    const done =
      this.#output.event("response.output_text.done", end) +
      this.#output.part("response.content_part.done", place, part);
    return cited.join("") + done;
  }

  #endCall(call: ToolCallPart, open: OpenBlock): string {
    const whole = argumentsOf(open.text, call.custom);
    const missing = whole === open.text ? "" : this.#output.delta(argumentsEvent(call, "delta"), open, whole);
    const named =
      call.custom === true
        ? `"input":${JSON.stringify(whole)}`
        : `"name":${JSON.stringify(call.name)},"arguments":${JSON.stringify(whole)}`;
    if (this.#output.item !== undefined)
      this.#output.item.whole = callItem(call, this.#output.item.id, "completed", whole);
    return missing + this.#output.event(argumentsEvent(call, "done"), `${open.place},${named}`);
  }

  #stop(reason: StopReason): string {
    this.#ending = writeResponseEnd(reason);
    return this.#output.endItem(this.#ending.status);
  }

  #end(): string {
    if (this.#response === undefined) return "";
    const last = this.#output.endItem(this.#ending.status);
    const { status } = this.#ending;
    const response = this.#response.write({
      ...this.#ending,
      output: this.#output.items,
      usage: writeUsage(this.#usage ?? {}),
      serviceTier: this.#serviceTier,
    });
    return `${last}${this.#output.event(`response.${status}`, `"response":${response}`)}data: [DONE]\n\n`;
  }

  #fail(failure: Failure): string {
    const { error, code, message } = writeStreamError(failure);
    const event = this.#output.event("error", JSON.stringify(error).slice(1, -1));
    if (this.#response === undefined) return event;
    const usage = this.#usage === undefined ? undefined : writeUsage(this.#usage);
    const response = this.#response.write({
      status: "failed",
      error: { code, message },
      output: this.#output.items,
      usage,
    });
    return event + this.#output.event("response.failed", `"response":${response}`);
  }
}

function emptyPart({ kind }: TextPart | RefusalPart): JsonObject {
  return kind === "text" ? writeOutputText({ text: "" }) : writeRefusal("");
}

function argumentsEvent({ custom }: ToolCallPart, what: "delta" | "done"): string {
  return custom === true ? `response.custom_tool_call_input.${what}` : `response.function_call_arguments.${what}`;
}
