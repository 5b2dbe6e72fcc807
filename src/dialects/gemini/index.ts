import { errorBody, objectOf, type RequestFeature } from "../../core/index.ts";
import type { TextCodec } from "../codec.ts";
import { generatedBytes } from "../generated-bytes.ts";
import { boundGemini, opaqueFields } from "./bound.ts";
import { camelMember, inCamel } from "./camel.ts";
import { geminiKeys, GeminiStreamObserver } from "./observe-stream.ts";
import type { GeminiRequest } from "./request.ts";
import { geminiObjects } from "./stored-objects.ts";

export { camelMember, inCamel } from "./camel.ts";
export { geminiBody, type GeminiRequest, geminiRequest } from "./request.ts";
export { geminiTranslation } from "./translation.ts";

/** Google's generateContent. */
export const geminiCodec: TextCodec<GeminiRequest> = {
  dialect: "gemini",
  objects: geminiObjects,
  asks: askedFeatures,
  measured: opaqueFields,
  misfits: () => false,
  bound: boundGemini,
  observe: (_body, readUsage) => new GeminiStreamObserver(readUsage),
  outputBytes: (answer) => generatedBytes(Buffer.from(answer), geminiKeys),
  errorEvent: (error, requestId) => `data: ${JSON.stringify(errorBody("gemini", error, requestId))}\n\n`,
};

function askedFeatures(body: GeminiRequest): readonly RequestFeature[] {
  const config = camelMember(body, "generationConfig") ?? {};
  const { thinkingBudget, thinkingLevel } = inCamel(objectOf(config["thinkingConfig"]) ?? {});
  const thinks = typeof thinkingLevel === "string" || (typeof thinkingBudget === "number" && thinkingBudget !== 0);
  return [
    ...(config["responseMimeType"] === "application/json" ? (["format"] as const) : []),
    ...(thinks ? (["effort"] as const) : []),
  ];
}
