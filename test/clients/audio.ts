/** Shared by the tests of speech and of transcripts: a gateway over every provider that supports them. */
import { expect } from "bun:test";
import type { Simulators } from "../../simulators/index.ts";
import { type Rig, type RigOptions, type ScriptedUpstream, simulatedKey, startRig } from "../kit/index.ts";

export const speechPath = "/v1/audio/speech";
export const transcriptionsPath = "/v1/audio/transcriptions";
export const translationsPath = "/v1/audio/translations";

/** Prices missing from the lists; other models have their list price, unless their name contains a fault. */
const prices = {
  "local/*speech*": { input_mchars: 10 },
  "groq/*speech*": { input_mchars: 50 },
  "local/*whisper*": { input_audio_hours: 0.36 },
  "groq/*whisper*": { input_audio_hours: 0.72 },
  "openai/tts-1+*": { input_mchars: 15 },
  "openai/gpt-4o-mini-tts+*": { input_mtok: 0.6, output_audio_mtok: 12 },
  "openai/whisper-1+*": { input_audio_hours: 0.36 },
  "openai/gpt-4o-transcribe+*": { input_mtok: 2.5, input_audio_mtok: 6, output_mtok: 10 },
  "mistral/voxtral-mini-tts-2603+*": { input_mchars: 16 },
  "mistral/voxtral-mini-latest+*": { input_audio_hours: 0.18 },
  "odd/speech": { input_mchars: 10 },
  "odd/whisper": { input_audio_hours: 0.36 },
};

/** xAI's audio names no model, behind which a simulator's fault could stand: there it stands behind the key. */
const xaiFaults = ["status-400", "status-500+times-1", "stall-1", "cut-1", "malformed", "error-200"];
const faultyPrefix = (fault: string): string => `xai-${fault.replaceAll("+", "-")}`;

/** The model, at an upstream with this behaviour. */
export function withFault(model: string, fault: string): string {
  return model.startsWith("xai/") ? model.replace("xai", faultyPrefix(fault)) : `${model}+${fault}`;
}

/** Of the providers that are there in any case, openai, xai and mistral have sounds. `odd` is whatever a test makes of it. */
export function startAudioRig(odd: string, options: RigOptions = {}): Promise<Rig> {
  return startRig({
    ...options,
    config: { upstream: { retries: 1 }, pricing: { models: prices }, ...options.config },
    providers: (simulators) => ({
      ...upstreamsOf(simulators, odd),
      ...options.providers?.(simulators),
    }),
  });
}

function upstreamsOf({ providers }: Simulators, odd: string): Record<string, object> {
  return {
    local: { kind: "openai-compatible", base_url: providers["openai-compatible"], api_key: simulatedKey },
    groq: {
      kind: "openai-compatible",
      preset: "groq",
      base_url: providers["openai-compatible"],
      api_key: simulatedKey,
    },
    odd: { kind: "openai", base_url: odd, api_key: simulatedKey },
    "odd-xai": { kind: "xai", base_url: odd, api_key: simulatedKey },
    ...Object.fromEntries(
      xaiFaults.map((fault) => [
        faultyPrefix(fault),
        { kind: "xai", base_url: providers.xai, api_key: `${simulatedKey}+${fault}` },
      ]),
    ),
  };
}

/** Callbacks before a client disconnects, and before the answer that it did not wait for. */
interface Between {
  meanwhile?: () => void;
  left?: () => Promise<unknown>;
}

/** A client that disconnects while its upstream generates the answer, which arrives nevertheless. */
export async function leaveBeforeAnswer(
  upstream: ScriptedUpstream,
  answer: () => Response,
  send: (signal: AbortSignal) => Promise<Response>,
  { meanwhile, left }: Between = {},
): Promise<void> {
  const asked = Promise.withResolvers<void>();
  const made = Promise.withResolvers<void>();
  upstream.answerWith(async () => {
    asked.resolve();
    await made.promise;
    return answer();
  });
  const leaving = new AbortController();
  const call = send(leaving.signal).catch((reason: Error) => reason.name);
  try {
    await asked.promise;
    meanwhile?.();
    leaving.abort();
    expect(await call).toBe("AbortError");
    await left?.();
  } finally {
    made.resolve();
  }
}
