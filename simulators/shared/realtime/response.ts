/** One response of a session: its events, its usage, and its end. */
import { setTimeout as sleep } from "node:timers/promises";
import { jsonInstance } from "../json-instance.ts";
import { asArray, asObject, type JsonObject } from "../json.ts";
import { addTokens, type Item, noTokens, textTokens, type Tokens } from "./conversation.ts";
import type { RealtimeFlavor } from "./flavor.ts";
import type { Outgoing } from "./outgoing.ts";
import type { Trouble } from "./scenario.ts";
import { sampleRate, speechDeltas, spokenText } from "./speech.ts";

const outputTokensPerSecond = 20;
const slowMs = 20;
const lateMs = 500;

export interface ResponseParts {
  readonly id: string;
  readonly out: Outgoing;
  readonly flavor: RealtimeFlavor;
  readonly trouble: Trouble;
  /** What the response reads, and how much of it an earlier response has read. */
  readonly read: Tokens;
  readonly cached: Tokens;
  readonly modality: "audio" | "text";
  /** The tool that it calls, instead of saying something. */
  readonly tool: JsonObject | undefined;
  readonly outputTokensMax: number;
  readonly conversationId: string | null;
  readonly metadata: unknown;
}

type Status = "completed" | "cancelled" | "incomplete" | "failed";

export class SimulatedResponse {
  readonly #parts: ResponseParts;
  #isCancelled = false;
  #written: Tokens = noTokens;

  constructor(parts: ResponseParts) {
    this.#parts = parts;
  }

  get id(): string {
    return this.#parts.id;
  }

  cancel(): void {
    this.#isCancelled = true;
  }

  /** Sends all events. Returns the item that it has added to the conversation. */
  async run(): Promise<Item | undefined> {
    const { out, id, flavor, trouble, tool, modality } = this.#parts;
    if (trouble.gone) out.cut();
    while (trouble.pending && out.isOpen && !this.#isCancelled) await sleep(slowMs);
    if (!out.isOpen) return undefined;
    out.send("response.created", { response: this.#object("in_progress", []) });
    if (flavor.reportsLimits) {
      const limit = { name: "tokens", limit: 40_000, remaining: 39_000, reset_seconds: 1.5 };
      out.send("rate_limits.updated", { rate_limits: [limit] });
    }
    const itemId = `item_${id.slice("resp_".length)}`;
    const item = this.#itemOf(itemId);
    const place = { response_id: id, output_index: 0 };
    out.send("response.output_item.added", { ...place, item: { ...item, status: "in_progress", content: [] } });
    out.send("conversation.item.added", {
      previous_item_id: null,
      item: { ...item, status: "in_progress", content: [] },
    });
    const inItem = { ...place, item_id: itemId };
    const content =
      tool !== undefined
        ? await this.#callTool(tool, inItem)
        : modality === "audio"
          ? await this.#speak({ ...inItem, content_index: 0 })
          : await this.#write({ ...inItem, content_index: 0 });
    if (trouble.silent) await this.#wait();
    if (!out.isOpen) return undefined;
    if (this.#isCancelled && trouble.late) await sleep(lateMs);
    const status = this.#status();
    const done = { ...item, ...content, status: status === "completed" ? "completed" : "incomplete" };
    out.send("response.output_item.done", { ...place, item: done });
    out.send("conversation.item.done", { previous_item_id: null, item: done });
    out.send("response.done", { response: this.#object(status, [done]) });
    return { id: itemId, value: done, tokens: this.#written };
  }

  #itemOf(id: string): JsonObject {
    const { tool } = this.#parts;
    const common = { id, object: "realtime.item" };
    if (tool === undefined) return { ...common, type: "message", role: "assistant" };
    return { ...common, type: "function_call", name: tool["name"], call_id: `call_${id.slice("item_".length)}` };
  }

  #status(): Status {
    if (this.#isCancelled) return "cancelled";
    if (this.#parts.trouble.fail) return "failed";
    return this.#isFull ? "incomplete" : "completed";
  }

  get #isFull(): boolean {
    return this.#written.text + this.#written.audio >= this.#parts.outputTokensMax;
  }

  /** Whether the response goes on after a delta. */
  async #mayGoOn(delta: number): Promise<boolean> {
    const { out, trouble } = this.#parts;
    await out.breathe(trouble.slow ? slowMs : 0);
    if (delta === 2 && trouble.cut) out.cut();
    if (delta === 2 && trouble.closeCode !== undefined) out.close(trouble.closeCode);
    return out.isOpen && !this.#isCancelled && !this.#isFull;
  }

  async #wait(): Promise<void> {
    while (this.#parts.out.isOpen) await sleep(slowMs);
  }

  async #speak(place: JsonObject): Promise<JsonObject> {
    const { out, trouble } = this.#parts;
    out.send("response.content_part.added", { ...place, part: { type: "audio", transcript: "" } });
    const seconds = trouble.flood ? Number.POSITIVE_INFINITY : trouble.seconds;
    let delta = 0;
    for (const bytes of speechDeltas(seconds)) {
      out.send("response.output_audio.delta", { ...place, delta: bytes.toString("base64") });
      const tokens = (outputTokensPerSecond * bytes.length) / (2 * sampleRate);
      this.#written = addTokens(this.#written, { ...noTokens, audio: tokens });
      delta += 1;
      if (!(await this.#mayGoOn(delta))) break;
    }
    const transcript = spokenText;
    out.send("response.output_audio_transcript.delta", { ...place, delta: transcript });
    this.#written = addTokens(this.#written, { ...noTokens, text: textTokens(transcript) });
    out.send("response.output_audio.done", place);
    out.send("response.output_audio_transcript.done", { ...place, transcript });
    out.send("response.content_part.done", { ...place, part: { type: "audio", transcript } });
    return { content: [{ type: "output_audio", transcript }] };
  }

  async #write(place: JsonObject): Promise<JsonObject> {
    const { out, flavor, trouble } = this.#parts;
    out.send("response.content_part.added", { ...place, part: { type: "text", text: "" } });
    let text = "";
    const words = trouble.flood ? Number.POSITIVE_INFINITY : trouble.words;
    for (let word = 1; word <= words; word += 1) {
      const delta = word === 1 ? "word" : " word";
      text += trouble.flood ? "" : delta;
      out.send(`${flavor.textEvent}.delta`, { ...place, delta });
      this.#written = addTokens(this.#written, { ...noTokens, text: 1 });
      if (!(await this.#mayGoOn(word))) break;
    }
    out.send(`${flavor.textEvent}.done`, { ...place, text });
    out.send("response.content_part.done", { ...place, part: { type: "text", text } });
    return { content: [{ type: "output_text", text }] };
  }

  async #callTool(tool: JsonObject, place: JsonObject): Promise<JsonObject> {
    const { out } = this.#parts;
    const text = JSON.stringify(jsonInstance(asObject(tool["parameters"])));
    const named = { ...place, call_id: `call_${String(place["item_id"]).slice("item_".length)}` };
    for (let at = 0; at < text.length; at += 8) {
      out.send("response.function_call_arguments.delta", { ...named, delta: text.slice(at, at + 8) });
      if (!(await this.#mayGoOn(at / 8 + 1))) break;
    }
    this.#written = addTokens(this.#written, { ...noTokens, text: textTokens(text) });
    out.send("response.function_call_arguments.done", { ...named, name: tool["name"], arguments: text });
    return { arguments: text };
  }

  #object(status: Status | "in_progress", output: readonly JsonObject[]): JsonObject {
    const { id, modality, conversationId, metadata, flavor, trouble } = this.#parts;
    const hasEnded = status !== "in_progress";
    const reason = { cancelled: "client_cancelled", incomplete: "max_output_tokens" } as const;
    const details =
      status === "cancelled" || status === "incomplete"
        ? { type: status, reason: reason[status] }
        : status === "failed"
          ? { type: "failed", error: { type: "server_error", code: "simulated" } }
          : null;
    return {
      object: "realtime.response",
      id,
      status,
      status_details: details,
      output,
      conversation_id: conversationId,
      output_modalities: [modality],
      max_output_tokens: "inf",
      usage: hasEnded && flavor.reportsUsage && !trouble.noUsage ? this.#usage() : null,
      metadata: metadata ?? null,
    };
  }

  #usage(): JsonObject {
    const { read, cached } = this.#parts;
    const audio = Math.round(this.#written.audio);
    const { text } = this.#written;
    const tokensIn = read.text + read.audio + read.image;
    return {
      total_tokens: tokensIn + text + audio,
      input_tokens: tokensIn,
      output_tokens: text + audio,
      input_token_details: {
        text_tokens: read.text,
        audio_tokens: read.audio,
        image_tokens: read.image,
        cached_tokens: cached.text + cached.audio + cached.image,
        cached_tokens_details: {
          text_tokens: cached.text,
          audio_tokens: cached.audio,
          image_tokens: cached.image,
        },
      },
      output_token_details: { text_tokens: text, audio_tokens: audio },
    };
  }
}

/** The function that a response calls: the first one, unless the last item is the result of a call, or tools are off. */
export function toolToCall(tools: unknown, choice: unknown, last: Item | undefined): JsonObject | undefined {
  if (choice === "none" || last?.value["type"] === "function_call_output") return undefined;
  return asArray(tools)
    .map(asObject)
    .find((tool) => tool["type"] === "function");
}
