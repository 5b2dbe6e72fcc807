/** A session of a simulated provider: its conversation, its audio buffer, and the events of its client. */
import type { WebSocket } from "ws";
import { asArray, asObject, isObject, type JsonObject, parseJson, stringOr } from "../json.ts";
import {
  addTokens,
  audioTokens,
  type Item,
  lastUserText,
  noTokens,
  textTokens,
  type Tokens,
  tokensOf,
} from "./conversation.ts";
import type { RealtimeFlavor } from "./flavor.ts";
import { textOf } from "./open-sockets.ts";
import { Outgoing } from "./outgoing.ts";
import { SimulatedResponse, toolToCall } from "./response.ts";
import { readTrouble } from "./scenario.ts";
import { sampleRate } from "./speech.ts";

const pcmBytesPerSecond = 2 * sampleRate;
const g711BytesPerSecond = 8_000;
/** Silence after which speech has ended, and speech that is long enough to be heard. */
const turnSeconds = 0.2;

interface SessionOptions {
  readonly socket: WebSocket;
  readonly flavor: RealtimeFlavor;
  readonly model: string;
  readonly type: "realtime" | "transcription";
  /** Different for each session of the simulators. */
  readonly name: string;
  /** The session of a client secret. */
  readonly preset: JsonObject | undefined;
}

/** Begins a session on a socket, and ends with it. */
export function startSession(options: SessionOptions): void {
  new SimulatedSession(options).start();
}

class SimulatedSession {
  readonly #options: SessionOptions;
  readonly #out: Outgoing;
  readonly #items: Item[] = [];
  readonly #running = new Set<SimulatedResponse>();
  #session: JsonObject;
  #audio: Buffer[] = [];
  #isSpeaking = false;
  #silentSeconds = 0;
  #numbers = 0;
  #hasResponded = false;
  /** The conversation that the last response has read. */
  #readBefore: Tokens = noTokens;

  constructor(options: SessionOptions) {
    const { socket, flavor, model, type, name, preset } = options;
    this.#options = options;
    this.#out = new Outgoing(socket);
    this.#session = { ...flavor.session(`sess_${name}`, model, type), ...preset };
  }

  start(): void {
    const { socket, flavor, name } = this.#options;
    socket.on("message", (data, isBinary) => this.#receive(isBinary ? undefined : parseJson(textOf(data))));
    this.#out.send("session.created", { session: this.#session });
    if (flavor.announcesConversation) {
      this.#out.send("conversation.created", { conversation: { id: `conv_${name}`, object: "realtime.conversation" } });
    }
  }

  #name(kind: string): string {
    this.#numbers += 1;
    return `${kind}_${this.#options.name}${this.#numbers}`;
  }

  #receive(event: unknown): void {
    if (!isObject(event)) {
      this.#out.error("invalid_event", "The event is not a JSON object.", null);
      return;
    }
    const { type, event_id: id } = event;
    switch (type) {
      case "session.update":
        return this.#update(asObject(event["session"]), id);
      case "conversation.item.create":
        return this.#createItem(asObject(event["item"]), event["previous_item_id"]);
      case "conversation.item.retrieve":
        return this.#withItem(event["item_id"], id, ({ value }) =>
          this.#out.send("conversation.item.retrieved", { item: value }),
        );
      case "conversation.item.delete":
        return this.#withItem(event["item_id"], id, (item) => {
          this.#items.splice(this.#items.indexOf(item), 1);
          this.#out.send("conversation.item.deleted", { item_id: item.id });
        });
      case "conversation.item.truncate":
        return this.#withItem(event["item_id"], id, (item) => {
          const { content_index, audio_end_ms } = event;
          this.#out.send("conversation.item.truncated", { item_id: item.id, content_index, audio_end_ms });
        });
      case "input_audio_buffer.append":
        return this.#append(Buffer.from(stringOr(event["audio"], ""), "base64"));
      case "input_audio_buffer.commit":
        if (this.#audio.length === 0) {
          return this.#out.error("input_audio_buffer_commit_empty", "The audio buffer is empty.", id);
        }
        return this.#commit();
      case "input_audio_buffer.clear":
        this.#audio = [];
        return this.#out.send("input_audio_buffer.cleared");
      case "response.create":
        return this.#create(asObject(event["response"]), id);
      case "response.cancel":
        return this.#cancel(event["response_id"], id);
      default:
        return this.#out.error("unknown_event", `There is no event of the type ${JSON.stringify(type)}.`, id, "type");
    }
  }

  #update(session: JsonObject, id: unknown): void {
    const { model } = session;
    if (model !== undefined && model !== this.#options.model) {
      this.#out.error("session_model_fixed", "The model of a session cannot be changed.", id, "session.model");
      return;
    }
    const { audio, ...rest } = session;
    const before = asObject(this.#session["audio"]);
    const merged = {
      input: { ...asObject(before["input"]), ...asObject(asObject(audio)["input"]) },
      output: { ...asObject(before["output"]), ...asObject(asObject(audio)["output"]) },
    };
    this.#session = { ...this.#session, ...rest, audio: merged };
    this.#out.send("session.updated", { session: this.#session });
  }

  #createItem(given: JsonObject, previous: unknown): void {
    const id = typeof given["id"] === "string" ? given["id"] : this.#name("item");
    const value = { id, object: "realtime.item", status: "completed", ...given };
    this.#items.push({ id, value, tokens: tokensOf(given, this.#bytesPerSecond) });
    const previousId = previous ?? this.#items.at(-2)?.id ?? null;
    this.#out.send("conversation.item.added", { previous_item_id: previousId, item: value });
    this.#out.send("conversation.item.done", { previous_item_id: previousId, item: value });
  }

  #withItem(itemId: unknown, id: unknown, act: (item: Item) => void): void {
    const item = this.#items.find((one) => one.id === itemId);
    if (item === undefined) this.#out.error("item_not_found", "There is no such item.", id, "item_id");
    else act(item);
  }

  get #bytesPerSecond(): number {
    const format = asObject(asObject(asObject(this.#session["audio"])["input"])["format"]);
    return /pcmu|pcma/.test(String(format["type"])) ? g711BytesPerSecond : pcmBytesPerSecond;
  }

  get #detection(): JsonObject | undefined {
    const input = asObject(asObject(this.#session["audio"])["input"]);
    const detection = input["turn_detection"] === undefined ? this.#session["turn_detection"] : input["turn_detection"];
    return isObject(detection) ? detection : undefined;
  }

  /** Whatever is not silent is speech. */
  #append(bytes: Buffer): void {
    const detection = this.#detection;
    if (detection === undefined) {
      this.#audio.push(bytes);
      return;
    }
    const seconds = bytes.length / this.#bytesPerSecond;
    const isSilent = bytes.every((byte) => byte === 0);
    if (isSilent && !this.#isSpeaking) return;
    this.#audio.push(bytes);
    if (!isSilent) {
      this.#silentSeconds = 0;
      if (this.#isSpeaking) return;
      this.#isSpeaking = true;
      this.#out.send("input_audio_buffer.speech_started", { audio_start_ms: 0, item_id: this.#name("item") });
      if (detection["interrupt_response"] !== false) for (const response of this.#running) response.cancel();
      return;
    }
    this.#silentSeconds += seconds;
    if (this.#silentSeconds < turnSeconds) return;
    this.#isSpeaking = false;
    this.#out.send("input_audio_buffer.speech_stopped", { audio_end_ms: 0, item_id: this.#name("item") });
    this.#commit();
    if (this.#options.type === "realtime" && detection["create_response"] !== false) void this.#respondOnceQuiet();
  }

  async #respondOnceQuiet(): Promise<void> {
    while (this.#running.size > 0 && this.#out.isOpen) await this.#out.breathe(1);
    this.#create({}, null);
  }

  #commit(): void {
    const bytes = Buffer.concat(this.#audio);
    this.#audio = [];
    const id = this.#name("item");
    const audio = audioTokens(bytes.length, this.#bytesPerSecond);
    const value = { id, object: "realtime.item", type: "message", status: "completed", role: "user" };
    this.#out.send("input_audio_buffer.committed", { previous_item_id: this.#items.at(-1)?.id ?? null, item_id: id });
    const item = { ...value, content: [{ type: "input_audio", transcript: null }] };
    this.#items.push({ id, value: item, tokens: { ...noTokens, audio } });
    this.#out.send("conversation.item.added", { previous_item_id: null, item });
    this.#out.send("conversation.item.done", { previous_item_id: null, item });
    this.#transcribe(id, bytes.length / this.#bytesPerSecond, audio);
  }

  #transcribe(itemId: string, seconds: number, audio: number): void {
    const { model } = asObject(asObject(asObject(this.#session["audio"])["input"])["transcription"]);
    if (typeof model !== "string") return;
    const transcript = "simulated transcript";
    const place = { item_id: itemId, content_index: 0 };
    const name = "conversation.item.input_audio_transcription";
    this.#out.send(`${name}.delta`, { ...place, delta: transcript });
    const output = textTokens(transcript);
    const tokens = {
      type: "tokens",
      total_tokens: audio + output,
      input_tokens: audio,
      input_token_details: { text_tokens: 0, audio_tokens: audio },
      output_tokens: output,
    };
    const usage = model === "whisper-1" ? { type: "duration", seconds } : tokens;
    this.#out.send(`${name}.completed`, { ...place, transcript, usage });
  }

  #create(given: JsonObject, id: unknown): void {
    const isOutOfBand = given["conversation"] === "none";
    if (!isOutOfBand && [...this.#running].some((one) => !one.id.startsWith("resp_oob"))) {
      this.#out.error("conversation_already_has_active_response", "A response is running in this conversation.", id);
      return;
    }
    const instructions = stringOr(given["instructions"] ?? this.#session["instructions"], "");
    const tools = given["tools"] ?? this.#session["tools"];
    const fixed = textTokens(instructions) + textTokens(JSON.stringify(tools ?? []));
    const conversation = this.#items.map(({ tokens }) => tokens).reduce(addTokens, noTokens);
    const read = addTokens(conversation, { ...noTokens, text: fixed });
    const cached = this.#hasResponded ? this.#readBefore : noTokens;
    const modalities = asArray(
      given["output_modalities"] ??
        given["modalities"] ??
        this.#session["output_modalities"] ??
        this.#session["modalities"],
    );
    const limit = given["max_output_tokens"] ?? this.#session["max_output_tokens"];
    const trouble = readTrouble(`${lastUserText(this.#items)} ${instructions}`);
    const response = new SimulatedResponse({
      id: this.#name(isOutOfBand ? "resp_oob" : "resp"),
      out: this.#out,
      flavor: this.#options.flavor,
      trouble,
      read,
      cached,
      modality: modalities.length === 0 || modalities.includes("audio") ? "audio" : "text",
      tool: toolToCall(tools, given["tool_choice"] ?? this.#session["tool_choice"], this.#items.at(-1)),
      outputTokensMax: typeof limit === "number" ? limit : Number.POSITIVE_INFINITY,
      conversationId: isOutOfBand ? null : `conv_${this.#options.name}`,
      metadata: given["metadata"],
    });
    this.#running.add(response);
    this.#hasResponded = true;
    this.#readBefore = read;
    void this.#run(response, isOutOfBand);
  }

  async #run(response: SimulatedResponse, isOutOfBand: boolean): Promise<void> {
    try {
      const item = await response.run();
      if (item !== undefined && !isOutOfBand) this.#items.push(item);
    } finally {
      this.#running.delete(response);
    }
  }

  #cancel(responseId: unknown, id: unknown): void {
    const chosen = [...this.#running].filter((one) => responseId === undefined || one.id === responseId);
    if (chosen.length === 0) this.#out.error("response_cancel_not_active", "No such response is running.", id);
    for (const response of chosen) response.cancel();
  }
}
