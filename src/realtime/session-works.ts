/** What a session may cost next, and the holds for it: a series for its responses, one for transcriptions of its input. */
import { outputHold, type WorkOrder } from "../charges/index.ts";
import {
  type GatewayError,
  type JsonObject,
  objectOf,
  type ObservedUsage,
  requestId,
  tokensOfBytes,
  type Usage,
} from "../core/index.ts";
import type { Target } from "../routing/index.ts";
import { Context } from "./context.ts";
import { WorkSeries, type SeriesEnd, type SeriesOptions } from "./work-series.ts";
import type { RealtimeDependencies, SessionStart } from "./realtime-dependencies.ts";

/** Input is held with this margin, so that not every chunk of audio raises the hold. */
const MARGIN = 1.5;

/** Tokens of text and of audio that are held for input which has not arrived yet. */
const SPARE_TEXT_TOKENS = 200;
const SPARE_AUDIO_TOKENS = 300;

/** Audio that a transcription is held for, at least. */
const TRANSCRIBED_MS_MIN = 60_000;
const MS_PER_AUDIO_TOKEN = 100;

/** The output of a transcription of a minute, in tokens. */
const TRANSCRIPT_TOKENS_PER_MINUTE = 400;

/** Time of the connection that is held ahead, if the model is priced by it. */
const CONNECTION_MS = 60_000;

/** Tokens of output that a raised hold still covers. */
const OUTPUT_TOKENS = 256;

/** The error for a request while another response runs in the conversation; it need not name the event. */
const ALREADY_RUNNING = "conversation_already_has_active_response";

/** Requests whose ids are remembered, to recognize the error that refuses one. */
const REQUEST_IDS_MAX = 1_000;

/** Audio without speech that counts, if the upstream detects speech. */
const UNHEARD_MS_MAX = 30_000;

/** Output that the upstream has sent, or sends until it reads the cancellation: half a minute of audio. */
const UNREAD: Usage = { outputAudio: 600 };

/** How often the cost of a response is compared with its hold: after this many tokens. */
const COMPARED_TOKENS = 64;

/** The messages of one response, as far as they count. */
interface Response {
  textBytes: number;
  audioTokens: number;
  comparedAt: number;
}

interface WorksOptions {
  deps: RealtimeDependencies;
  start: SessionStart;
  onExhausted: SeriesOptions["onExhausted"];
}

export class SessionWorks {
  readonly context = new Context();
  /** Undefined in a session that only transcribes. */
  readonly responses: WorkSeries | undefined;
  readonly #options: WorksOptions;
  readonly #open = new Map<string, Response>();
  #transcriptions: { series: WorkSeries; model: string } | undefined;
  #covered: Usage = {};
  #coveredMs = 0;
  /** Audio that has not been committed, and audio whose transcription is under way, in milliseconds. */
  #audioMs = 0;
  /** Responses that the client has asked for and the upstream has not begun, and the ids of these events. */
  #requested = 0;
  readonly #requestIds = new Set<string>();

  constructor(options: WorksOptions) {
    this.#options = options;
    const { type, target } = options.start;
    if (type === "realtime") this.responses = this.#seriesOf(target, () => this.#responseOrder());
    else this.#transcriptions = { series: this.#transcriptionSeries(target), model: target.model };
  }

  /** Holds the first work. Rejects with the refusal. */
  async open(): Promise<void> {
    await (this.responses ?? this.transcriptions)?.open();
  }

  /** The upstream has opened the session. */
  connected(): void {
    this.responses?.connected();
  }

  /** Ends all works. */
  async close(outcome: SeriesEnd["outcome"], error?: GatewayError): Promise<void> {
    await Promise.all([this.responses?.close(outcome, error), this.transcriptions?.close(outcome, error)]);
  }

  #transcriptionSeries(target: Target): WorkSeries {
    return this.#seriesOf(target, () => this.#transcriptionOrder(target));
  }

  #seriesOf(target: Target, newOrder: () => WorkOrder): WorkSeries {
    const { deps, onExhausted } = this.#options;
    const isTimed = target.price.priced.has("connectionMs");
    const now = (): number => deps.ticker.now();
    return new WorkSeries({ work: deps.work, newOrder, onExhausted, unread: UNREAD, isTimed, now });
  }

  #orderOf(target: Target, more: Pick<WorkOrder, "operation" | "bound" | "output">): WorkOrder {
    const { deps, start } = this.#options;
    const { clock, randomBytes } = deps.environment;
    return {
      id: requestId(clock, randomBytes),
      parent: start.id,
      principal: start.principal,
      dialect: undefined,
      source: { provider: target.route.prefix, model: target.model, modelId: target.modelId },
      price: target.price,
      priceOf: target.priceOf,
      streamed: true,
      at: clock(),
      ...more,
    };
  }

  #responseOrder(): WorkOrder {
    const { target } = this.#options.start;
    const { price } = target;
    const { input = 0, inputAudio = 0, inputImage = 0 } = (this.#covered = this.#withSpare());
    const isTimed = price.priced.has("connectionMs");
    const bound: WorkOrder["bound"] = {
      inputTokens: input + inputAudio + inputImage,
      inputParts: { inputAudio, inputImage },
      outputTokens: undefined,
      outputBuckets: ["outputAudio"],
      choices: 1,
      ...(isTimed && { inputUnits: { connectionMs: CONNECTION_MS } }),
    };
    const asked = { price, bound, streamed: true, hidesThought: false, isAnswerOnly: false, limitMin: 1 };
    return this.#orderOf(target, { operation: "realtime", bound, output: outputHold(asked) });
  }

  /** What the next response may read, with room for what has not arrived yet. */
  #withSpare(): Usage {
    const { contextWindow = Number.POSITIVE_INFINITY } = this.#options.start.target.price;
    const { text, audio, image } = this.context.most;
    return {
      input: Math.min(Math.ceil(text * MARGIN) + SPARE_TEXT_TOKENS, contextWindow),
      inputAudio: Math.min(Math.ceil(audio * MARGIN) + SPARE_AUDIO_TOKENS, contextWindow),
      inputImage: Math.min(image, contextWindow),
    };
  }

  /** Sets, changes or ends the transcription of the input. Throws a `GatewayError` for a model that is not available. */
  transcribe(model: string | undefined, resolve: (model: string) => Target): void {
    if (model === this.#transcriptions?.model) return;
    const series = model === undefined ? undefined : this.#transcriptionSeries(resolve(model));
    void this.#transcriptions?.series.close("complete");
    this.#transcriptions = model === undefined || series === undefined ? undefined : { series, model };
    void series?.ensure(1);
  }

  get transcriptions(): WorkSeries | undefined {
    return this.#transcriptions?.series;
  }

  #transcriptionOrder(target: Target): WorkOrder {
    const usage = this.#transcriptionBound();
    const { inputAudio = 0, output = 0, inputAudioMs = 0 } = usage;
    this.#coveredMs = inputAudioMs;
    const bound = { inputTokens: inputAudio, inputParts: { inputAudio }, inputUnits: { inputAudioMs }, choices: 1 };
    return this.#orderOf(target, { operation: "realtime_transcription", bound: { ...bound, outputTokens: output } });
  }

  #transcriptionBound(): Usage {
    const inputAudioMs = Math.max(TRANSCRIBED_MS_MIN, Math.ceil(this.#audioMs * MARGIN));
    return { inputAudioMs, ...transcriptionTokens(inputAudioMs) };
  }

  /** A chunk of audio from the client. */
  appendAudio(base64Bytes: number): void {
    this.context.appendAudio(base64Bytes);
    this.#audioMs += this.context.inputMsOf(base64Bytes);
    if (!this.context.takesAll) this.#audioMs = Math.min(this.#audioMs, UNHEARD_MS_MAX);
  }

  clearAudio(): void {
    this.context.clearAudio();
    this.#audioMs = 0;
  }

  /** The upstream has taken the audio so far as the item of a user. */
  commitAudio(itemId: string | undefined): void {
    const milliseconds = this.#audioMs;
    this.context.commitAudio();
    this.#audioMs = 0;
    const series = this.#transcriptions?.series;
    if (series === undefined || itemId === undefined) return;
    series.begin(itemId, () => ({
      usage: { inputAudioMs: milliseconds, ...transcriptionTokens(milliseconds), requests: 1 },
    }));
    void series.ensure(1);
  }

  /** Raises the holds for what the client has sent; undefined if they suffice. Rejects without enough credits. */
  cover(): Promise<void> | undefined {
    const { text, audio, image } = this.context.most;
    const { input = 0, inputAudio = 0, inputImage = 0 } = this.#covered;
    const lacks = this.responses !== undefined && (text > input || audio > inputAudio || image > inputImage);
    const lacksTime = this.#transcriptions !== undefined && this.#audioMs > this.#coveredMs;
    if (!lacks && !lacksTime) return undefined;
    const raises: Promise<void>[] = [];
    if (lacks) {
      this.#covered = this.#withSpare();
      raises.push(this.responses?.cover({ ...this.#covered, outputAudio: OUTPUT_TOKENS }) ?? Promise.resolve());
    }
    if (lacksTime) {
      const bound = this.#transcriptionBound();
      this.#coveredMs = bound.inputAudioMs ?? 0;
      raises.push(this.transcriptions?.cover(bound) ?? Promise.resolve());
    }
    return Promise.all(raises).then(() => undefined);
  }

  /** The client asks for a response. Returns a promise if it must not be passed on before one is held for it. */
  request(eventId: unknown): Promise<void> | undefined {
    this.#requested += 1;
    if (typeof eventId === "string" && this.#requestIds.size < REQUEST_IDS_MAX) this.#requestIds.add(eventId);
    const series = this.responses;
    return series === undefined || series.hasAhead(this.#requested) ? undefined : series.ensure(this.#requested);
  }

  /** The upstream has refused an event. Only if that was a request for a response, nothing needs to be held for it. */
  refused({ code, event_id: id }: JsonObject): void {
    const isRequest = code === ALREADY_RUNNING || (typeof id === "string" && this.#requestIds.has(id));
    if (!isRequest) return;
    if (typeof id === "string") this.#requestIds.delete(id);
    this.#requested = Math.max(this.#requested - 1, 0);
  }

  /** The upstream has begun a response. */
  beginResponse(id: string): void {
    const series = this.responses;
    if (series === undefined) return;
    this.#requested = Math.max(this.#requested - 1, 0);
    const read = this.context.likely;
    const response: Response = { textBytes: 0, audioTokens: 0, comparedAt: 0 };
    this.#open.set(id, response);
    series.begin(id, () => estimateOf(read, response));
    void series.ensure(Math.max(1, this.#requested));
  }

  /**
   * A part of a response has passed: this many bytes of text, or of audio in base64. Returns a promise if nothing more may
   * pass before it resolves.
   */
  passed(id: string | undefined, { textBytes = 0, audioBytes = 0 }): Promise<void> | undefined {
    const [only] = this.#open.keys();
    const named = id ?? only;
    const response = named === undefined ? undefined : this.#open.get(named);
    if (named === undefined || response === undefined) return undefined;
    if (response.textBytes + response.audioTokens === 0) this.responses?.firstByte(named);
    response.textBytes += textBytes;
    response.audioTokens += this.context.outputTokensOf(audioBytes);
    const tokens = response.audioTokens + tokensOfBytes(response.textBytes);
    if (tokens < response.comparedAt + COMPARED_TOKENS) return undefined;
    response.comparedAt = tokens;
    return this.responses?.keepUp(named);
  }

  /** Tops a response up again: nothing more of it may pass before the promise resolves. */
  keepUp(id: string | undefined): Promise<void> | undefined {
    const [only] = this.#open.keys();
    const named = id ?? only;
    return named === undefined ? undefined : this.responses?.keepUp(named);
  }

  /** Whether several responses run at the same time, so that their parts must be told apart. */
  get hasSeveral(): boolean {
    return this.#open.size > 1;
  }

  /** A response has ended. Resolves to whether its charge is durable. */
  async endResponse(
    id: string,
    { status, observed }: { status: unknown; observed: ObservedUsage | undefined },
  ): Promise<boolean> {
    this.#open.delete(id);
    if (observed !== undefined) this.context.replaceBy(observed.usage);
    const outcome = status === "failed" ? "failed" : "complete";
    return (await this.responses?.end(id, { observed, outcome })) ?? true;
  }

  /** A transcription has ended. */
  async endTranscription(itemId: string, observed: ObservedUsage | undefined, hasFailed: boolean): Promise<boolean> {
    const series = this.#transcriptions?.series;
    return (await series?.end(itemId, { observed, outcome: hasFailed ? "failed" : "complete" })) ?? true;
  }
}

function transcriptionTokens(milliseconds: number): Usage {
  return {
    inputAudio: Math.ceil(milliseconds / MS_PER_AUDIO_TOKEN),
    output: Math.ceil((milliseconds / 60_000) * TRANSCRIPT_TOKENS_PER_MINUTE),
  };
}

function estimateOf(read: Usage, { textBytes, audioTokens }: Response): ObservedUsage {
  const outputAudio = Math.ceil(audioTokens);
  return { usage: { ...read, output: tokensOfBytes(textBytes), outputAudio, requests: 1 } };
}

/** The transcription model that a session names, `null` if it ends transcription; undefined if it says nothing. */
export function transcriptionModelOf(session: JsonObject): string | null | undefined {
  const input = objectOf(objectOf(session["audio"])?.["input"]);
  const setting =
    input?.["transcription"] === undefined ? session["input_audio_transcription"] : input["transcription"];
  if (setting === undefined || setting === null) return setting;
  const model = objectOf(setting)?.["model"];
  return typeof model === "string" ? model : undefined;
}

/** A session that transcribes with this model, if it does not name one itself. */
export function withTranscription(session: JsonObject, model: string): JsonObject {
  if (typeof transcriptionModelOf(session) === "string") return session;
  const audio = objectOf(session["audio"]);
  const input = objectOf(audio?.["input"]);
  const transcription = { ...objectOf(input?.["transcription"]), model };
  return { ...session, audio: { ...audio, input: { ...input, transcription } } };
}
