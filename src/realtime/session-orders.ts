import { outputHold, type WorkOrder } from "../charges/index.ts";
import { requestId, type Usage } from "../core/index.ts";
import type { Target } from "../routing/index.ts";
import type { Context } from "./context.ts";
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

/** The orders of a session's works, and what their holds cover. */
export class SessionOrders {
  readonly #deps: RealtimeDependencies;
  readonly #start: SessionStart;
  readonly #context: Context;
  #covered: Usage = {};
  #coveredMs = 0;

  constructor(deps: RealtimeDependencies, start: SessionStart, context: Context) {
    this.#deps = deps;
    this.#start = start;
    this.#context = context;
  }

  /** The next response: with all that it may read by now, and room for what has not arrived yet. */
  response(): WorkOrder {
    const { target } = this.#start;
    const { price } = target;
    const { input = 0, inputAudio = 0, inputImage = 0 } = (this.#covered = this.#withSpare());
    const isTimed = price.priced.has("connectionMs");
    const bound: WorkOrder["bound"] = {
      inputTokens: input + inputAudio + inputImage,
      isGrowing: true,
      inputParts: { inputAudio, inputImage },
      outputTokens: undefined,
      outputBuckets: ["outputAudio"],
      choices: 1,
      ...(isTimed && { inputUnits: { connectionMs: CONNECTION_MS } }),
    };
    const asked = { price, bound, streamed: true, hidesThought: false, isAnswerOnly: false, limitMin: 1 };
    return this.#orderOf(target, { operation: "realtime", bound, output: outputHold(asked) });
  }

  /** The next transcription by this model, of so much audio that has arrived. */
  transcription(target: Target, audioMs: number): WorkOrder {
    const { inputAudio = 0, output = 0, inputAudioMs = 0 } = this.#transcriptionBound(audioMs);
    this.#coveredMs = inputAudioMs;
    const bound = {
      inputTokens: inputAudio,
      isGrowing: true,
      inputParts: { inputAudio },
      inputUnits: { inputAudioMs },
      choices: 1,
    };
    return this.#orderOf(target, { operation: "realtime_transcription", bound: { ...bound, outputTokens: output } });
  }

  /** What the next response must cover now; undefined if its hold suffices. */
  raisedResponse(): Usage | undefined {
    const { text, audio, image } = this.#context.most;
    const { input = 0, inputAudio = 0, inputImage = 0 } = this.#covered;
    if (text <= input && audio <= inputAudio && image <= inputImage) return undefined;
    this.#covered = this.#withSpare();
    return { ...this.#covered, outputAudio: OUTPUT_TOKENS };
  }

  /** What the next transcription must cover now; undefined if its hold suffices. */
  raisedTranscription(audioMs: number): Usage | undefined {
    if (audioMs <= this.#coveredMs) return undefined;
    const bound = this.#transcriptionBound(audioMs);
    this.#coveredMs = bound.inputAudioMs ?? 0;
    return bound;
  }

  #withSpare(): Usage {
    const { contextWindow = Number.POSITIVE_INFINITY } = this.#start.target.price;
    const { text, audio, image } = this.#context.most;
    return {
      input: Math.min(Math.ceil(text * MARGIN) + SPARE_TEXT_TOKENS, contextWindow),
      inputAudio: Math.min(Math.ceil(audio * MARGIN) + SPARE_AUDIO_TOKENS, contextWindow),
      inputImage: Math.min(image, contextWindow),
    };
  }

  #transcriptionBound(audioMs: number): Usage {
    const inputAudioMs = Math.max(TRANSCRIBED_MS_MIN, Math.ceil(audioMs * MARGIN));
    return { inputAudioMs, ...transcriptionTokens(inputAudioMs) };
  }

  #orderOf(target: Target, more: Pick<WorkOrder, "operation" | "bound" | "output">): WorkOrder {
    const { clock, randomBytes } = this.#deps.environment;
    return {
      id: requestId(clock, randomBytes),
      parent: this.#start.id,
      session: this.#start.clientSession,
      endUser: this.#start.endUser,
      tags: this.#start.tags,
      principal: this.#start.principal,
      dialect: undefined,
      source: { provider: target.route.prefix, model: target.model, modelId: target.modelId },
      price: target.price,
      priceOf: target.priceOf,
      streamed: true,
      at: clock(),
      ...more,
    };
  }
}

/** The tokens of a transcription of so much audio. */
export function transcriptionTokens(milliseconds: number): Usage {
  return {
    inputAudio: Math.ceil(milliseconds / MS_PER_AUDIO_TOKEN),
    output: Math.ceil((milliseconds / 60_000) * TRANSCRIPT_TOKENS_PER_MINUTE),
  };
}
