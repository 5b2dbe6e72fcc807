import { type JsonObject, objectOf } from "../../core/index.ts";
import type { CallInput, UpstreamRequests, UpstreamOperation } from "../provider.ts";
import { embeddingsOperation } from "../shared/embeddings-operation.ts";
import { refusal } from "../shared/refusal.ts";

/** Models that create one vector from texts, images and videos together, under a separate path. */
const multimodal = /embedding-vision/;

/** Whether an entry of `input` is already a part: a text, an image or a video. */
function isPart(entry: unknown): boolean {
  return objectOf(entry) !== undefined;
}

/** The parts of the single vector. Throws 422 if several vectors are requested. */
function partsOf(input: unknown): readonly unknown[] {
  const entries: readonly unknown[] = Array.isArray(input) ? input : [input];
  if (entries.length > 0 && entries.every(isPart)) return entries;
  const [text] = entries;
  if (typeof text !== "string") {
    throw refusal("input", "must be a text, or a list of parts: this model accepts no token ids.");
  }
  if (entries.length > 1) {
    throw refusal("input", "must be one text: this model creates one vector per call. Send a call for each.");
  }
  return [{ type: "text", text }];
}

/** Converts the single vector to a list, as other models return it. */
function listed(answer: JsonObject): JsonObject {
  const vector = objectOf(answer["data"]);
  return vector === undefined ? answer : { ...answer, data: [{ ...vector, index: 0 }] };
}

/** An endpoint's id (`ep-…`) does not reveal its model, but only multimodal models accept parts. */
function toUpstream({ body }: CallInput, model: string): UpstreamRequests | undefined {
  const { input } = body;
  const hasParts = Array.isArray(input) && input.some(isPart);
  if (!hasParts && !multimodal.test(model)) return undefined;
  return {
    requests: [{ subpath: "/multimodal", json: { ...body, input: partsOf(input) } }],
    answer: ([answer = {}]) => listed(answer),
  };
}

export const embeddings: UpstreamOperation = {
  ...embeddingsOperation({ path: "/embeddings", drops: [], renames: {} }),
  toUpstream,
};
