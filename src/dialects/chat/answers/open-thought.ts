import { type JsonObject, objectOf } from "../../../core/index.ts";
import type { AnswerEvent, QueuedBlock, UpstreamContext } from "../../conversation/index.ts";
import { addDetail, type ThoughtPlace, writeThoughtData } from "../thought-data.ts";

/** The thought that is being read, and the data that its maker requires back with it. */
export class OpenThought {
  readonly block: QueuedBlock;
  readonly #upstream: UpstreamContext;
  readonly #details: JsonObject[] = [];
  #extra: JsonObject | undefined;
  #cipher: string | undefined;
  #place: ThoughtPlace | undefined;
  #text = "";

  constructor(block: QueuedBlock, upstream: UpstreamContext) {
    this.block = block;
    this.#upstream = upstream;
  }

  add(text: string, place: ThoughtPlace | undefined, events: AnswerEvent[]): void {
    this.#text += text;
    if (this.#upstream.reasoningField === "as-shown") this.#place = place ?? this.#place;
    this.block.add(text, events);
  }

  addDetail(detail: JsonObject): void {
    addDetail(this.#details, detail);
  }

  encrypt(cipher: string): void {
    this.#cipher = cipher;
  }

  /** The signature of the whole message. */
  sign(extra: JsonObject): void {
    this.#extra = extra;
  }

  /** Before another block begins: the thought is complete. */
  seal(events: AnswerEvent[]): void {
    const data = { details: this.#details, extra: this.#extra, cipher: this.#cipher, place: this.#place };
    const value = writeThoughtData(data, this.#text);
    if (value !== "") this.block.sign({ origin: this.#upstream.origin, value }, events);
  }
}

/** Google's signature of a message that calls no tool, or beside its calls; undefined without one. */
export function signatureIn({
  extra_content: extra,
  thought_signature: signature,
}: JsonObject): JsonObject | undefined {
  const google = objectOf(objectOf(extra)?.["google"]);
  const given = google?.["thought_signature"] ?? signature;
  return typeof given === "string" && given !== "" ? { google: { thought_signature: given } } : undefined;
}
