import { type JsonObject, listOf, objectOf } from "../../core/index.ts";
import { countOf } from "../shared/json.ts";

/** The models that draw; without a wish they answer with pictures too. */
const draws = /image|nano-banana/;

/** The models that speak. */
const speaks = /-tts/;

/** The models that make videos. */
const films = /-omni/;

/** What an answer of a model may consist of besides text, by the names that Google has for it. */
export function mediaOf(model: string): readonly ("IMAGE" | "AUDIO" | "VIDEO")[] {
  if (draws.test(model)) return ["IMAGE"];
  if (speaks.test(model)) return ["AUDIO"];
  return films.test(model) ? ["VIDEO"] : [];
}

/** The tokens of one modality in a list of counts by modality; undefined if the list is absent. */
export function tokensOf(modality: string, details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  return listOf(details)
    .map((detail): JsonObject => objectOf(detail) ?? {})
    .reduce((sum, detail) => (detail["modality"] === modality ? sum + countOf(detail["tokenCount"]) : sum), 0);
}
