/** What an upstream's messages count for: the responses and transcriptions of a session, their parts and their ends. */
import { type JsonObject, objectOf, parseObject } from "../core/index.ts";
import type { RealtimeApi } from "../providers/index.ts";
import type { Target } from "../routing/index.ts";
import { type SessionWorks, transcriptionModelOf } from "./session-works.ts";

interface UpstreamEventsOptions {
  works: SessionWorks;
  api: RealtimeApi;
  resolveTranscription: (model: string) => Target;
  /** The upstream has begun a response. */
  onBegun: (id: string) => void;
  /** The upstream transcribes with a model that is not available, or not affordable. */
  onRefused: (thrown: unknown) => void;
}

/** A charge or a hold that a message, or those after it, must wait for. */
export type Metered =
  /** The message ends a paid work: it waits until the charge is durable. */
  | { kind: "charge"; charged: Promise<void> }
  /** The hold of the response is used up, or not taken yet: the next message waits while `keepUp` says so. */
  | { kind: "unheld"; response: string }
  /** The upstream has refused a response that it was asked for: nothing may run any more. */
  | { kind: "refused" };

export class UpstreamEvents {
  readonly #options: UpstreamEventsOptions;

  constructor(options: UpstreamEventsOptions) {
    this.#options = options;
  }

  /** Counts an event of this type. Returns the charge or hold to wait for, if any. */
  count(type: string, text: string): Metered | undefined {
    const { works } = this.#options;
    if (type.endsWith(".delta")) return type.startsWith("response.") ? this.#countDelta(type, text) : undefined;
    switch (type) {
      case "session.created":
      case "session.updated":
        this.#configured(objectOf(parseObject(text)?.["session"]) ?? {}, type.endsWith("updated"));
        return undefined;
      case "response.created": {
        const id = objectOf(parseObject(text)?.["response"])?.["id"];
        if (typeof id !== "string") return undefined;
        const isHeld = works.beginResponse(id);
        this.#options.onBegun(id);
        return isHeld ? undefined : { kind: "unheld", response: id };
      }
      case "response.done":
        return this.#endResponse(objectOf(parseObject(text)?.["response"]) ?? {});
      case "input_audio_buffer.speech_started":
      case "input_audio_buffer.speech_stopped":
      case "input_audio_buffer.timeout_triggered":
        works.context.speech(type.endsWith("started"));
        return undefined;
      case "input_audio_buffer.committed": {
        const id = parseObject(text)?.["item_id"];
        works.commitAudio(typeof id === "string" ? id : undefined);
        return undefined;
      }
      case "conversation.item.input_audio_transcription.completed":
      case "conversation.item.input_audio_transcription.failed":
        return this.#endTranscription(parseObject(text) ?? {}, type.endsWith("failed"));
      case "error":
        return works.refused(objectOf(parseObject(text)?.["error"]) ?? {}) ? { kind: "refused" } : undefined;
      default:
        return undefined;
    }
  }

  /** The upstream's own account of the session is the one that counts. */
  #configured(session: JsonObject, isUpdate: boolean): void {
    const { works, api, resolveTranscription, onRefused } = this.#options;
    works.context.configure(session);
    const model = transcriptionModelOf(session);
    if (model === null && isUpdate && works.responses !== undefined) works.transcribe(undefined, resolveTranscription);
    if (typeof model !== "string" || api.readTranscriptionUsage === undefined) return;
    try {
      works.transcribe(model, resolveTranscription);
    } catch (thrown) {
      onRefused(thrown);
    }
  }

  #countDelta(type: string, text: string): Metered | undefined {
    const { works } = this.#options;
    const bytes = deltaBytesOf(text);
    const isAudio = type === "response.output_audio.delta" || type === "response.audio.delta";
    const only = works.onlyResponse;
    const named = only === undefined || works.hasSeveral ? parseObject(text)?.["response_id"] : undefined;
    const response = typeof named === "string" ? named : only;
    if (response === undefined) return undefined;
    // Its beginning may not have been announced.
    if (only === undefined) works.beginResponse(response);
    const mayGoOn = works.passed(response, isAudio ? { audioBytes: bytes } : { textBytes: bytes });
    return mayGoOn ? undefined : { kind: "unheld", response };
  }

  #endResponse({ id, status, usage }: JsonObject): Metered | undefined {
    const { works, api } = this.#options;
    if (typeof id !== "string") return undefined;
    return { kind: "charge", charged: works.endResponse(id, status, api.readUsage(usage)) };
  }

  #endTranscription({ item_id: id, usage, transcript }: JsonObject, hasFailed: boolean): Metered | undefined {
    const { works, api } = this.#options;
    if (typeof id !== "string") return undefined;
    const observed = api.readTranscriptionUsage?.(usage);
    const textBytes = typeof transcript === "string" ? Buffer.byteLength(transcript) : 0;
    const charged = works.endTranscription(id, observed, { textBytes, hasFailed });
    return charged && { kind: "charge", charged };
  }
}

/** The bytes of the text `delta` of an event, as they stand in it. */
function deltaBytesOf(text: string): number {
  const at = text.indexOf('"delta"', text.indexOf(".delta") + 1);
  if (at === -1) return 0;
  const start = text.indexOf('"', at + '"delta"'.length) + 1;
  let end = text.indexOf('"', start);
  while (end > 0 && text[end - 1] === "\\") end = text.indexOf('"', end + 1);
  return end === -1 ? 0 : end - start;
}
