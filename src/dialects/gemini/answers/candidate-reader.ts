import { type JsonObject, objectOf, objectsOf, stringOf } from "../../../core/index.ts";
import {
  type AnswerBlock,
  type AnswerEvent,
  BlockQueue,
  type Failure,
  type QueuedBlock,
  type Signature,
  type UpstreamContext,
} from "../../conversation/index.ts";
import { readSignature } from "../signatures.ts";
import { readGrounding } from "./grounding.ts";
import { isFailureReason, readFinishReason } from "./stop-reasons.ts";

/** Reads one candidate of an answer, chunk by chunk. Every part is whole, or a piece of a text. */
export class CandidateReader {
  readonly #index: number;
  readonly #upstream: UpstreamContext;
  readonly #queue: BlockQueue;
  readonly #ids = new Set<string>();
  readonly #pages = new Set<string>();
  #hasCalls = false;
  #hasContent = false;
  /** A signature behind the text, which becomes a block of its own: pages for the text may come after it. */
  #sealing: Signature | undefined;
  /** Whether the open thought has its signature: the next piece is of another one. */
  #isSealed = false;
  hasStopped = false;

  constructor(index: number, upstream: UpstreamContext) {
    this.#index = index;
    this.#upstream = upstream;
    this.#queue = new BlockQueue(index);
  }

  /** Returns the failure if the chunk contains one instead of more of an answer. */
  read(candidate: JsonObject, events: AnswerEvent[]): Failure | undefined {
    if (this.hasStopped) return undefined;
    this.#cite(candidate, events);
    for (const part of objectsOf(objectOf(candidate["content"])?.["parts"])) this.#readPart(part, events);
    this.#cite(candidate, events);
    const reason = candidate["finishReason"];
    if (typeof reason !== "string" || reason === "" || reason === "FINISH_REASON_UNSPECIFIED") return undefined;
    if (isFailureReason(reason) && !this.#hasContent) {
      return { kind: "server", code: "upstream_interrupted", message: `The upstream gave up: ${reason}.` };
    }
    this.stop(reason, events);
    return undefined;
  }

  stop(reason: string, events: AnswerEvent[]): void {
    if (this.hasStopped) return;
    this.hasStopped = true;
    this.#seal(events);
    this.#queue.finish(events);
    events.push({ type: "stop", choice: this.#index, stop: { reason: readFinishReason(reason, this.#hasCalls) } });
  }

  /** Pages belong to the text that is open; a later chunk repeats them. */
  #cite(candidate: JsonObject, events: AnswerEvent[]): void {
    const last = this.#queue.last;
    if (last?.start.kind !== "text") return;
    for (const citation of readGrounding(candidate)) {
      if (citation.kind !== "url" || this.#pages.has(citation.url)) continue;
      this.#pages.add(citation.url);
      last.cite(citation, events);
    }
  }

  #readPart(part: JsonObject, events: AnswerEvent[]): void {
    const sealed = stringOf(part["thoughtSignature"]);
    if (sealed !== "" || Object.keys(part).some((name) => part[name] !== "")) this.#seal(events);
    const signature = sealed === "" ? undefined : this.#signatureOf(sealed);
    const call = objectOf(part["functionCall"]);
    if (call !== undefined) return this.#readCall(call, signature, events);
    if (part["thought"] === true) this.#readThought(stringOf(part["text"]), events);
    else this.#readContent(part, events);
    if (signature === undefined) return;
    if (part["thought"] !== true) this.#sealing = signature;
    else {
      this.#openThought(events).sign(signature, events);
      this.#isSealed = true;
    }
  }

  /** Ends the text with the signature behind it. */
  #seal(events: AnswerEvent[]): void {
    const signature = this.#sealing;
    if (signature === undefined) return;
    this.#sealing = undefined;
    this.#begin({ kind: "reasoning", text: "" }, events).sign(signature, events);
    this.#isSealed = true;
  }

  #signatureOf(value: string): Signature {
    const { origin, value: own } = readSignature(value);
    return origin === "native:gemini" ? { origin: this.#upstream.origin, value: own } : { origin, value: own };
  }

  #readThought(text: string, events: AnswerEvent[]): void {
    if (text !== "") this.#openThought(events).add(text, events);
  }

  #openThought(events: AnswerEvent[]): QueuedBlock {
    const last = this.#queue.last;
    if (last?.start.kind === "reasoning" && !this.#isSealed) return last;
    return this.#begin(
      { kind: "reasoning", text: "", signature: { origin: this.#upstream.origin, value: "" } },
      events,
    );
  }

  #readContent(part: JsonObject, events: AnswerEvent[]): void {
    const text = stringOf(part["text"]);
    if (text !== "") {
      const last = this.#queue.last;
      const block = last?.start.kind === "text" ? last : this.#begin({ kind: "text", text: "" }, events);
      block.add(text, events);
      return;
    }
    const inline = objectOf(part["inlineData"]);
    if (inline !== undefined) return this.#readImage(inline, events);
    const isRun = ["executableCode", "codeExecutionResult", "toolCall", "toolResponse"].some((name) => name in part);
    if (isRun) this.#begin({ kind: "native", dialect: "gemini", value: part }, events);
  }

  /** Sound has no place in other dialects' answers. */
  #readImage({ mimeType, data }: JsonObject, events: AnswerEvent[]): void {
    const mediaType = stringOf(mimeType);
    if (!mediaType.startsWith("image/")) return;
    this.#begin({ kind: "image", source: { kind: "base64", mediaType, data: stringOf(data) } }, events);
  }

  #readCall(call: JsonObject, signature: Signature | undefined, events: AnswerEvent[]): void {
    this.#hasCalls = true;
    const sealed = signature === undefined ? {} : { signature };
    const start = {
      kind: "tool-call",
      callId: this.#uniqueId(call),
      name: stringOf(call["name"]),
      arguments: "",
    } as const;
    const block = this.#begin({ ...start, ...sealed }, events);
    block.add(JSON.stringify(objectOf(call["args"]) ?? {}), events);
    this.#queue.advance(events);
  }

  /** Results are matched by the id: a missing or duplicate one is replaced. */
  #uniqueId(call: JsonObject): string {
    const given = stringOf(call["id"]);
    const taken = given === "" || this.#ids.has(given);
    const id = taken ? `call_${this.#upstream.callId}${this.#index}${this.#ids.size}` : given;
    this.#ids.add(id);
    return id;
  }

  #begin(start: AnswerBlock, events: AnswerEvent[]): QueuedBlock {
    this.#hasContent = true;
    this.#isSealed = false;
    return this.#queue.begin(start, events);
  }
}
