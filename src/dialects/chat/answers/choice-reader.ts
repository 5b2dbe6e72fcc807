import { type JsonObject, objectOf, stringOf } from "../../../core/index.ts";
import {
  type AnswerBlock,
  type AnswerEvent,
  BlockQueue,
  type Citation,
  type Failure,
  type QueuedBlock,
  type ToolCallPart,
  type UpstreamContext,
} from "../../conversation/index.ts";
import { detailsIn, textOfDetail, type ThoughtPlace } from "../thought-data.ts";
import { readCitation } from "./citations.ts";
import { readImage } from "./images.ts";
import { OpenThought, signatureIn } from "./open-thought.ts";
import { isFailureReason, readFinishReason } from "./stop-reasons.ts";
import { ThinkTags } from "./think-tags.ts";

/** A tool call whose fragments are arriving. */
interface PendingCall {
  index: number | undefined;
  id: string;
  block: QueuedBlock;
}

/** Reads one choice of a chat answer, chunk by chunk. */
export class ChoiceReader {
  readonly #index: number;
  readonly #upstream: UpstreamContext;
  readonly #queue: BlockQueue;
  readonly #tags: ThinkTags | undefined;
  readonly #calls: PendingCall[] = [];
  readonly #ids = new Set<string>();
  stopped = false;
  #thought: OpenThought | undefined;
  #cited = false;
  /** Citations before the text. */
  #citations: Citation[] = [];
  /** The addresses of images: a stream may repeat them. */
  readonly #images = new Set<string>();
  /** Whether the answer has begun. */
  #hasBegun = false;
  /** Whether there is text in `content`. */
  #writes = false;

  constructor(index: number, upstream: UpstreamContext) {
    this.#index = index;
    this.#upstream = upstream;
    this.#queue = new BlockQueue(index);
    this.#tags = upstream.thinkTags === true ? new ThinkTags() : undefined;
  }

  /** Sources beside the upstream's answer, for text without citations. */
  citeAll(citations: readonly Citation[], events: AnswerEvent[]): void {
    const last = this.#queue.last;
    if (this.#cited || last?.start.kind !== "text") return;
    this.#cited = true;
    for (const citation of citations) last.cite(citation, events);
  }

  /** Returns the failure if the chunk contains one instead of more of an answer. */
  read(choice: JsonObject, events: AnswerEvent[]): Failure | undefined {
    if (this.stopped) return undefined;
    const whole = objectOf(choice["message"]);
    // A stream whose chunks repeat the message so far (`docs/wire/others.md`) also has a delta.
    const delta = objectOf(choice["delta"]) ?? whole;
    const failure = delta === undefined ? undefined : this.#readDelta(delta, choice, events);
    if (failure !== undefined) return failure;
    const reason = choice["finish_reason"];
    if (typeof reason !== "string" || reason === "") return undefined;
    // All deltas were empty, and the whole answer is at the end.
    const rest = this.#hasBegun || whole === undefined ? undefined : this.#readDelta(whole, { message: whole }, events);
    return rest ?? this.stop(reason, events);
  }

  /** The choice has ended for this reason. */
  stop(reason: string, events: AnswerEvent[]): Failure | undefined {
    if (this.stopped) return undefined;
    if (isFailureReason(reason)) return invalidAnswer(`The upstream gave up: ${reason}.`, "upstream_interrupted");
    for (const { kind, text } of this.#tags?.flush() ?? []) this.#addPiece(kind, text, events);
    this.#thought?.seal(events);
    this.#thought = undefined;
    const lost = this.#queue.finish(events);
    if (lost.length > 0) return invalidAnswer("The upstream's answer calls a tool without a name.");
    this.stopped = true;
    const stop = { reason: readFinishReason(reason, this.#calls.length > 0) };
    events.push({ type: "stop", choice: this.#index, stop });
    return undefined;
  }

  #readDelta(delta: JsonObject, choice: JsonObject, events: AnswerEvent[]): Failure | undefined {
    this.#readReasoning(delta, events);
    const { content, refusal, annotations, tool_calls: calls } = delta;
    if (typeof content === "string") {
      if (content !== "") this.#addContent(content, choice, events);
    } else if (Array.isArray(content)) {
      for (const chunk of content) this.#readContentChunk(objectOf(chunk) ?? {}, events);
    }
    if (Array.isArray(annotations)) this.#readAnnotations(annotations, events);
    if (typeof refusal === "string" && refusal !== "") this.#addText("refusal", refusal, events);
    // The words of a spoken answer are the text, unless the text stands beside it.
    const words = stringOf(objectOf(delta["audio"])?.["transcript"]);
    if (words !== "" && !this.#writes) this.#addText("text", words, events);
    if (Array.isArray(delta["images"])) this.#readImages(delta["images"], events);
    for (const [position, value] of (Array.isArray(calls) ? calls : formerCallIn(delta)).entries()) {
      const call = objectOf(value);
      // Only in a whole list are calls identified by their positions.
      const place = choice["delta"] === undefined ? position : undefined;
      const failure = call === undefined ? undefined : this.#readCall(call, place, events);
      if (failure !== undefined) return failure;
    }
    return undefined;
  }

  #readReasoning(delta: JsonObject, events: AnswerEvent[]): void {
    const { reasoning_content: content, reasoning, encrypted_content: cipher } = delta;
    const details = detailsIn(delta["reasoning_details"]);
    for (const detail of details) this.#openThought(events).addDetail(detail);
    // The details repeat the text, or are the only ones to have it.
    const [text, place]: [string, ThoughtPlace?] =
      stringOf(content) === "" ? [stringOf(reasoning), "reasoning"] : [stringOf(content), "reasoning_content"];
    const thought = text === "" ? details.map(textOfDetail).join("") : text;
    if (thought !== "") this.#openThought(events).add(thought, text === "" ? undefined : place, events);
    if (typeof cipher === "string" && cipher !== "") this.#openThought(events).encrypt(cipher);
    const signature = signatureIn(delta);
    if (signature !== undefined) this.#openThought(events).sign(signature);
  }

  #openThought(events: AnswerEvent[]): OpenThought {
    const last = this.#queue.last;
    if (this.#thought === undefined || this.#thought.block !== last) {
      // A thought always contains its origin, so that it is never mistaken for another upstream's.
      const signature = { origin: this.#upstream.origin, value: "" };
      const block = this.#begin({ kind: "reasoning", text: "", signature }, events);
      this.#thought = new OpenThought(block, this.#upstream);
    }
    return this.#thought;
  }

  /** Images are whole: a stream does not cut them. */
  #readImages(images: readonly unknown[], events: AnswerEvent[]): void {
    for (const value of images) {
      const image = readImage(value);
      const address = image === undefined ? "" : JSON.stringify(image.source);
      if (image === undefined || this.#images.has(address)) continue;
      this.#images.add(address);
      this.#begin(image, events);
    }
  }

  #addContent(content: string, choice: JsonObject, events: AnswerEvent[]): void {
    this.#writes = true;
    if (this.#tags === undefined) {
      this.#addText("text", content, events, logprobsOf(choice));
      return;
    }
    const pieces = this.#tags.take(content);
    // Probabilities belong to the whole content.
    const [piece] = pieces;
    const isWhole = piece?.kind === "text" && piece.text === content;
    if (isWhole) this.#addText("text", content, events, logprobsOf(choice));
    else for (const { kind, text } of pieces) this.#addPiece(kind, text, events);
  }

  /** A piece of content in which thoughts stand between tags. */
  #addPiece(kind: "text" | "reasoning", text: string, events: AnswerEvent[]): void {
    if (kind === "text") this.#addText(kind, text, events);
    else this.#openThought(events).add(text, "think", events);
  }

  #addText(kind: "text" | "refusal", text: string, events: AnswerEvent[], logprobs?: readonly JsonObject[]): void {
    const last = this.#queue.last;
    const block = last?.start.kind === kind ? last : this.#begin({ kind, text: "" }, events);
    block.add(text, events, logprobs);
    if (kind !== "text") return;
    for (const citation of this.#citations) block.cite(citation, events);
    this.#citations = [];
  }

  #begin(start: AnswerBlock, events: AnswerEvent[], opens = true): QueuedBlock {
    this.#hasBegun = true;
    this.#thought?.seal(events);
    this.#thought = undefined;
    return this.#queue.begin(start, events, opens);
  }

  /** Content in pieces, some of them thoughts. */
  #readContentChunk(chunk: JsonObject, events: AnswerEvent[]): void {
    const { text, thinking } = chunk;
    if (chunk["type"] === "text" && typeof text === "string" && text !== "") this.#addText("text", text, events);
    if (chunk["type"] !== "thinking" || !Array.isArray(thinking)) return;
    for (const piece of thinking) {
      const thought = objectOf(piece)?.["text"];
      if (typeof thought === "string" && thought !== "") this.#openThought(events).add(thought, undefined, events);
    }
  }

  #readAnnotations(annotations: readonly unknown[], events: AnswerEvent[]): void {
    const last = this.#queue.last;
    this.#cited ||= annotations.length > 0;
    for (const annotation of annotations) {
      const citation = readCitation(objectOf(annotation) ?? {});
      if (citation === undefined) continue;
      if (last?.start.kind === "text") last.cite(citation, events);
      else this.#citations.push(citation);
    }
  }

  /** `position`: the call's position in a whole list of calls, which may omit its index. */
  #readCall(fragment: JsonObject, position: number | undefined, events: AnswerEvent[]): Failure | undefined {
    const { custom, name, text } = contentIn(fragment);
    const call =
      findCall(this.#calls, fragment, name, position) ?? this.#beginCall(fragment, { name, custom, position }, events);
    const { block } = call;
    if (!block.opens && name !== "" && block.start.kind === "tool-call") {
      block.start = { ...block.start, name };
      block.opens = true;
    }
    // Some upstreams send the arguments as an object.
    const more = typeof text === "string" ? text : objectOf(text) === undefined ? "" : JSON.stringify(text);
    if (more === "" && block.opens) {
      this.#queue.advance(events);
      return undefined;
    }
    if (block.ended) {
      return more.trim() === ""
        ? undefined
        : invalidAnswer("The upstream added to the arguments of a tool call that were whole.");
    }
    block.add(more, events);
    this.#queue.advance(events);
    return undefined;
  }

  #beginCall(
    fragment: JsonObject,
    { name, custom, position }: { name: string; custom: boolean; position: number | undefined },
    events: AnswerEvent[],
  ): PendingCall {
    const id = stringOf(fragment["id"]);
    const start: ToolCallPart = { kind: "tool-call", callId: this.#uniqueId(id), name, arguments: "" };
    if (custom) start.custom = true;
    const extra = objectOf(fragment["extra_content"]);
    if (extra !== undefined) start.signature = { origin: this.#upstream.origin, value: JSON.stringify(extra) };
    const block = this.#begin(start, events, name !== "");
    const call = { index: indexOf(fragment) ?? position, id, block };
    this.#calls.push(call);
    return call;
  }

  /** Results are matched by the id: a missing or duplicate one is replaced. */
  #uniqueId(given: string): string {
    const taken = given === "" || this.#ids.has(given);
    const id = taken ? `call_${this.#upstream.callId}${this.#index}${this.#calls.length}` : given;
    this.#ids.add(id);
    return id;
  }
}

/** By the index; if it is missing or repeated, by the id; without both it is the last call. */
function findCall(
  calls: readonly PendingCall[],
  fragment: JsonObject,
  name: string,
  position: number | undefined,
): PendingCall | undefined {
  const id = stringOf(fragment["id"]);
  const index = indexOf(fragment) ?? position;
  const begins = name !== "" && id !== "";
  if (index !== undefined) {
    const same = calls.findLast((call) => call.index === index);
    return same !== undefined && begins && same.id !== id ? undefined : same;
  }
  if (id !== "") return calls.find((call) => call.id === id);
  return name === "" ? calls.at(-1) : undefined;
}

/** The content of a fragment: of a custom tool, unless that stands empty beside a function (Snowflake). */
function contentIn(fragment: JsonObject): { custom: boolean; name: string; text: unknown } {
  const free = objectOf(fragment["custom"]);
  const fn = objectOf(fragment["function"]) ?? {};
  const custom = free !== undefined && stringOf(fn["name"]) === "" && (fn["arguments"] ?? "") === "";
  return custom
    ? { custom, name: stringOf(free["name"]), text: free["input"] }
    : { custom, name: stringOf(fn["name"]), text: fn["arguments"] };
}

/** A call in the form that `tool_calls` has replaced. It has no id, and there is one at most. */
function formerCallIn(delta: JsonObject): JsonObject[] {
  const call = objectOf(delta["function_call"]);
  const isEmpty = stringOf(call?.["name"]) === "" && (call?.["arguments"] ?? "") === "";
  return call === undefined || isEmpty ? [] : [{ function: call }];
}

function invalidAnswer(message: string, code = "upstream_invalid_answer"): Failure {
  return { kind: "server", code, message };
}

function indexOf({ index }: JsonObject): number | undefined {
  return typeof index === "number" ? index : undefined;
}

function logprobsOf(choice: JsonObject): readonly JsonObject[] | undefined {
  const content = objectOf(choice["logprobs"])?.["content"];
  if (!Array.isArray(content) || content.length === 0) return undefined;
  return content.map((one) => objectOf(one)).filter((one) => one !== undefined);
}
