/** What a session may cost next, and the holds for it: a series for its responses, one for transcriptions of its input. */
import { withEstimate, type WorkOrder } from "../charges/index.ts";
import {
  GatewayError,
  inAudioSteps,
  type JsonObject,
  objectOf,
  type ObservedUsage,
  tokensOfBytes,
  type Usage,
} from "../core/index.ts";
import type { Target } from "../routing/index.ts";
import { Context } from "./context.ts";
import { SessionOrders, transcriptionTokens } from "./session-orders.ts";
import { RecentIds, WorkSeries, type SeriesEnd, type SeriesOptions } from "./work-series.ts";
import type { RealtimeDependencies, SessionStart } from "./realtime-dependencies.ts";

/** Audio without speech that counts, if the upstream detects speech. */
const UNHEARD_MS_MAX = 30_000;

/** Output that the upstream has sent, or sends until it reads the cancellation: half a minute of audio. */
const UNREAD: Usage = { outputAudio: 600 };

/** How often the cost of a response is compared with its hold: after this many tokens. */
const COMPARED_TOKENS = 64;

/** The error for a request while another response runs in the conversation; it need not name the event. */
const ALREADY_RUNNING = "conversation_already_has_active_response";

/** The messages of one response, as far as they count. */
interface Response {
  /** The probable input. */
  read: Usage;
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
  readonly #orders: SessionOrders;
  readonly #open = new Map<string, Response>();
  readonly #audio: InputAudio;
  #transcriptions: { series: WorkSeries; model: string } | undefined;
  /** Requests for responses, to recognize the error that refuses one. */
  readonly #requestIds = new RecentIds();
  /** Other models that have transcribed the input: what they were sent is charged when they report it. */
  readonly #replaced: WorkSeries[] = [];
  #isClosed = false;

  constructor(options: WorksOptions) {
    this.#options = options;
    const { deps, start } = options;
    this.#orders = new SessionOrders(deps, start, this.context);
    const { type, target } = start;
    this.#audio = new InputAudio(target.operation.realtime?.audioMsStep);
    if (type === "realtime") this.responses = this.#seriesOf(target, () => this.#orders.response());
    else this.#transcriptions = { series: this.#seriesOf(target), model: target.model };
  }

  /** Holds the first work. Rejects with the refusal; nothing is held then. */
  async open(): Promise<void> {
    try {
      await (this.responses ?? this.transcriptions)?.ahead.open();
    } catch (thrown) {
      await this.close({});
      throw thrown;
    }
  }

  /** The upstream has opened the session. */
  connected(): void {
    this.responses?.connected();
  }

  /** Ends all works. */
  async close(end: Omit<SeriesEnd, "observed">): Promise<void> {
    this.#isClosed = true;
    const all = [this.responses, this.transcriptions, ...this.#replaced].filter((series) => series !== undefined);
    await Promise.all(all.map((series) => series.close(end)));
  }

  /** Of transcriptions, unless it has orders of its own. */
  #seriesOf(
    target: Target,
    newOrder: () => WorkOrder = () => this.#orders.transcription(target, this.#audio.milliseconds),
  ): WorkSeries {
    const { deps, onExhausted } = this.#options;
    const isTimed = target.price.priced.has("connectionMs");
    const now = (): number => deps.ticker.now();
    const usageOf: SeriesOptions["usageOf"] = (reported, estimate) => withEstimate(reported, estimate, target.price);
    return new WorkSeries({ work: deps.work, newOrder, onExhausted, usageOf, unread: UNREAD, isTimed, now });
  }

  /** Sets, changes or ends the transcription of the input. Throws a `GatewayError` for a model that is not available. */
  transcribe(model: string | undefined, resolve: (model: string) => Target): void {
    // Nobody would end the hold once the session is closed.
    if (this.#isClosed || model === this.#transcriptions?.model) return;
    const series = model === undefined ? undefined : this.#seriesOf(resolve(model));
    const replaced = this.#transcriptions?.series;
    if (replaced !== undefined) {
      this.#replaced.push(replaced);
      void (replaced.activeIds.length === 0 ? replaced.close({}) : replaced.finishRunning());
    }
    this.#transcriptions = model === undefined || series === undefined ? undefined : { series, model };
    void series?.ahead.ensure();
  }

  get transcriptions(): WorkSeries | undefined {
    return this.#transcriptions?.series;
  }

  /** A chunk of audio from the client. */
  appendAudio(base64Bytes: number): void {
    this.context.appendAudio(base64Bytes);
    const { takesAll } = this.context;
    this.#audio.append(this.context.inputMsOf(base64Bytes), takesAll ? Number.POSITIVE_INFINITY : UNHEARD_MS_MAX);
  }

  clearAudio(): void {
    this.context.clearAudio();
    this.#audio.take();
  }

  /** The upstream has taken the audio so far as the item of a user, and answers it if it has heard its end by itself. */
  commitAudio(itemId: string | undefined): void {
    const milliseconds = this.#audio.take();
    if (this.context.commitAudio()) this.responses?.expect(wholeOf(this.context));
    if (itemId !== undefined) this.#audio.transcribe(this.transcriptions, itemId, milliseconds);
  }

  /** Raises the holds for what the client has sent; undefined if they suffice. Rejects without enough credits. */
  cover(): Promise<void> | undefined {
    const response = this.responses === undefined ? undefined : this.#orders.raisedResponse();
    const transcription =
      this.#transcriptions === undefined ? undefined : this.#orders.raisedTranscription(this.#audio.milliseconds);
    if (response === undefined && transcription === undefined) return undefined;
    const covering: Promise<unknown>[] = [];
    if (response !== undefined && this.responses !== undefined) covering.push(this.responses.ahead.cover(response));
    if (transcription !== undefined && this.transcriptions !== undefined) {
      covering.push(this.transcriptions.ahead.cover(transcription));
    }
    return Promise.all(covering).then(() => undefined);
  }

  /** The client's request for a response goes to the upstream. */
  requested(eventId: string): void {
    this.#requestIds.add(eventId);
    this.responses?.ask(wholeOf(this.context));
  }

  /** The upstream has refused an event. Returns whether that was a request for a response, for which nothing is held then. */
  refused({ code, event_id: id }: JsonObject): boolean {
    const isRequest = (typeof id === "string" && this.#requestIds.delete(id)) || code === ALREADY_RUNNING;
    if (isRequest) void this.responses?.refused();
    return isRequest;
  }

  /** The upstream has begun a response. Returns whether it is held: if not, it must not pass before `keepUp` lets it. */
  beginResponse(id: string): boolean {
    const series = this.responses;
    if (series === undefined || series.knows(id)) return true;
    const response: Response = { read: this.context.likely, textBytes: 0, audioTokens: 0, comparedAt: 0 };
    this.#open.set(id, response);
    const isHeld = series.begin(id, () => estimateOf(response));
    void series.ahead.ensure();
    return isHeld;
  }

  /** A part of a response has passed: this many bytes of text, or of audio in base64. Returns whether more may pass. */
  passed(id: string, { textBytes = 0, audioBytes = 0 }): boolean {
    const response = this.#open.get(id);
    if (response === undefined) return true;
    if (response.textBytes + response.audioTokens === 0) this.responses?.firstByte(id);
    response.textBytes += textBytes;
    response.audioTokens += this.context.outputTokensOf(audioBytes);
    const tokens = response.audioTokens + tokensOfBytes(response.textBytes);
    if (tokens < response.comparedAt + COMPARED_TOKENS) return true;
    response.comparedAt = tokens;
    return this.keepUp(id) === undefined;
  }

  /** While the hold of a response is used up or not taken yet: settled when it is to be asked again. */
  keepUp(id: string): Promise<void> | undefined {
    return this.responses?.keepUp(id);
  }

  /** Whether several responses run at the same time, so that their parts must be distinguished. */
  get hasSeveral(): boolean {
    return this.#open.size > 1;
  }

  /** The response that runs, or the first of several. */
  get onlyResponse(): string | undefined {
    const [only] = this.#open.keys();
    return only;
  }

  /** A response has ended. Resolves once its charge is durable, and rejects if it cannot be made so. */
  async endResponse(id: string, status: unknown, observed: ObservedUsage | undefined): Promise<void> {
    if (this.responses?.knows(id) === false) this.beginResponse(id);
    const response = this.#open.get(id);
    this.#open.delete(id);
    const { price } = this.#options.start.target;
    const used = response && observed ? withEstimate(observed, estimateOf(response), price) : observed;
    if (used !== undefined) this.context.replaceBy(used.usage);
    await this.responses?.end(id, endOf(used, status === "failed"));
  }

  /** A transcription has ended: see `endResponse`. Undefined for one that nobody has asked for, and that reports no usage. */
  endTranscription(
    itemId: string,
    observed: ObservedUsage | undefined,
    { textBytes, hasFailed }: { textBytes: number; hasFailed: boolean },
  ): Promise<void> | undefined {
    const replaced = this.#replaced.find((one) => one.knows(itemId));
    if ((replaced ?? this.transcriptions) === undefined) {
      if (observed === undefined) return undefined;
      // Its model is not known: the session's is the one that the client has asked for.
      const { target } = this.#options.start;
      this.transcribe(target.model, () => target);
    }
    const series = replaced ?? this.transcriptions;
    // Its beginning was not announced.
    if (series?.knows(itemId) === false) this.#audio.transcribe(series, itemId, hasFailed ? 0 : this.#audio.take());
    void this.transcriptions?.ahead.ensure();
    this.#audio.transcribed(itemId, textBytes);
    return series?.end(itemId, endOf(observed, hasFailed));
  }
}

/** The audio of an item that is transcribed. */
interface HeardItem {
  milliseconds: number;
  /** The bytes of its transcript; undefined before that is known. */
  textBytes?: number;
}

/** The audio of a session's input, as far as transcriptions count it. */
class InputAudio {
  readonly #stepMs: number | undefined;
  readonly #items = new Map<string, HeardItem>();
  #milliseconds = 0;

  /** `stepMs`: audio is billed in steps of so many milliseconds. */
  constructor(stepMs: number | undefined) {
    this.#stepMs = stepMs;
  }

  /** The audio that belongs to no item yet. */
  get milliseconds(): number {
    return this.#milliseconds;
  }

  append(milliseconds: number, most: number): void {
    this.#milliseconds = Math.min(this.#milliseconds + milliseconds, most);
  }

  take(): number {
    const { milliseconds } = this;
    this.#milliseconds = 0;
    return milliseconds;
  }

  /** The upstream transcribes so much audio as an item. */
  transcribe(series: WorkSeries | undefined, itemId: string, milliseconds: number): void {
    if (series === undefined || series.knows(itemId)) return;
    const item: HeardItem = { milliseconds };
    this.#items.set(itemId, item);
    series.begin(itemId, () => heardIn(item, this.#stepMs));
    void series.ahead.ensure();
  }

  /** The transcript has come, with so many bytes of text. */
  transcribed(itemId: string, textBytes: number): void {
    const item = this.#items.get(itemId);
    if (item !== undefined) item.textBytes = textBytes;
    this.#items.delete(itemId);
  }
}

/** A transcription that reports nothing. */
function heardIn({ milliseconds, textBytes }: HeardItem, stepMs = 1): ObservedUsage {
  const likely = transcriptionTokens(milliseconds);
  const output = textBytes === undefined ? likely.output : tokensOfBytes(textBytes);
  const usage = { ...likely, ...(output !== undefined && { output }), inputAudioMs: milliseconds, requests: 1 };
  return { usage: inAudioSteps(usage, stepMs) };
}

/** An upstream does not bill what it could not give. */
function endOf(observed: ObservedUsage | undefined, hasFailed: boolean): SeriesEnd {
  if (!hasFailed) return { observed };
  return { observed, error: new GatewayError("upstream_invalid_answer", "The upstream has failed."), isGivenUp: true };
}

/** What a response costs that reports nothing and has passed nothing: it has read all of the conversation. */
function wholeOf({ likely }: Context): () => ObservedUsage {
  return () => ({ usage: { ...likely, requests: 1 } });
}

function estimateOf({ read, textBytes, audioTokens }: Response): ObservedUsage {
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
