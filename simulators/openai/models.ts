import { asObject, isGiven, type JsonObject } from "../shared/json.ts";
import type { Problem } from "../shared/check.ts";
import type { EffortRows } from "../shared/limits.ts";
import { type Call, errorAnswer, jsonAnswer, type Answer, type Route } from "../shared/types.ts";
import { openaiErrors } from "./errors.ts";

/** Models that talk, and behind them those for embeddings, images and audio. */
const models = [
  { id: "gpt-5.2", created: 1_765_300_000 },
  { id: "gpt-5", created: 1_754_425_777 },
  { id: "gpt-5-mini", created: 1_754_425_928 },
  { id: "gpt-5-nano", created: 1_754_426_384 },
  { id: "gpt-4.1-mini", created: 1_744_318_173 },
  { id: "gpt-4o", created: 1_715_367_049 },
  { id: "gpt-4o-mini", created: 1_721_172_741 },
  { id: "o4-mini", created: 1_744_225_351 },
  { id: "text-embedding-3-small", created: 1_705_948_997 },
  { id: "text-embedding-3-large", created: 1_705_953_180 },
  { id: "text-embedding-ada-002", created: 1_671_217_299 },
  { id: "omni-moderation-latest", created: 1_731_689_265 },
  { id: "gpt-3.5-turbo-instruct", created: 1_692_901_427 },
  { id: "gpt-image-1", created: 1_745_517_030 },
  { id: "gpt-image-1-mini", created: 1_758_845_821 },
  { id: "gpt-image-1.5", created: 1_764_030_620 },
  { id: "gpt-image-2", created: 1_776_729_600 },
  { id: "dall-e-3", created: 1_698_785_189 },
  { id: "tts-1", created: 1_681_940_951 },
  { id: "tts-1-hd", created: 1_699_046_015 },
  { id: "gpt-4o-mini-tts", created: 1_742_403_959 },
  { id: "whisper-1", created: 1_677_532_384 },
  { id: "gpt-4o-transcribe", created: 1_742_068_463 },
  { id: "gpt-4o-mini-transcribe", created: 1_742_068_596 },
  { id: "gpt-realtime", created: 1_756_271_701 },
  { id: "gpt-realtime-mini", created: 1_759_512_137 },
  { id: "sora-2", created: 1_758_931_200 },
  { id: "sora-2-pro", created: 1_758_931_201 },
  { id: "gpt-4o-transcribe-diarize", created: 1_750_798_887 },
].map(({ id, created }) => ({ id, object: "model", created, owned_by: "system" }));

function retrieve(call: Call): Answer {
  const id = call.parameters["id"] ?? "";
  const found = models.find((model) => model.id === id);
  return found === undefined ? errorAnswer(openaiErrors.modelNotFound(id)) : jsonAnswer(found);
}

/** Models listing: one unpaged list. */
export const modelRoutes: readonly Route[] = [
  { method: "GET", path: "/openai/v1/models", handle: () => jsonAnswer({ object: "list", data: models }) },
  { method: "GET", path: "/openai/v1/models/:id", handle: retrieve },
];

/** Families that think before they answer and refuse options of the older models. */
export function isReasoningModel(model: string): boolean {
  return /^(o\d|gpt-[56])/.test(model) && !/-chat|-search/.test(model);
}

/** Since 5.1, most models of the family take sampling parameters while they don't think, which is their default. */
const samplesWithoutThought = /^gpt-(5\.\d|6-sol|6-luna|6\.1-terra)/;

/** Models that don't think take no effort in Responses. */
export const withoutThought: EffortRows[number] = [/^(gpt-[34]|chatgpt-4o|gpt-audio)/, []];

/** The efforts of the families. */
export const effortRows: EffortRows = [
  [/^o\d/, ["low", "medium", "high"]],
  [/^gpt-5(-mini|-nano)?(-\d{4}.*)?$/, ["minimal", "low", "medium", "high"]],
  [/^gpt-5\.1(-|$)/, ["none", "low", "medium", "high"]],
  [/^gpt-5\.\d/, ["none", "low", "medium", "high", "xhigh"]],
  [/^gpt-6(-astra|\.1-sol)/, ["low", "medium", "high", "xhigh", "max"]],
  [/^gpt-6(-sol|-luna|\.1-terra)/, ["none", "low", "medium", "high", "xhigh", "max"]],
];

const samplingDefaults = { temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0 } as const;

/** Models that think take the sampling parameters' default values alone. */
export function refuseSampling(body: JsonObject): Problem | null {
  const model = String(body["model"]);
  if (!isReasoningModel(model)) return null;
  const effort = body["reasoning_effort"] ?? asObject(body["reasoning"])["effort"] ?? "none";
  if (samplesWithoutThought.test(model) && effort === "none") return null;
  for (const [field, common] of Object.entries(samplingDefaults)) {
    const value = body[field];
    if (!isGiven(value) || value === common) continue;
    const message = `'${field}' does not support ${String(value)} with this model. Only the default (${common}) value is supported.`;
    return { kind: "unsupported", field, message };
  }
  return null;
}
