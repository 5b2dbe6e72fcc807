/** Edits for members of a body that its model does not take. Whatever is deeper in a body is the dialects' to change. */
import type { JsonEdit } from "../../bodies/index.ts";
import { efforts, type JsonObject, type ModelFacts, nearestEffort, objectOf } from "../../core/index.ts";

/** The values of sampling parameters that change nothing. */
const defaults: JsonObject = { temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0 };

/** The edits of a body in chat or Responses, in which the effort has different places. */
export function fitBody(body: JsonObject, facts: ModelFacts): JsonEdit[] {
  return [...fitEffort(body, facts), ...fitSampling(body, facts), ...fitLimit(body, facts)];
}

/** An effort that the model refuses becomes the nearest lower one that it takes. */
function fitEffort(body: JsonObject, { efforts: offered }: ModelFacts): JsonEdit[] {
  if (offered === undefined) return [];
  const { reasoning_effort: asked } = body;
  const reasoning = objectOf(body["reasoning"]);
  const effort = efforts.find((one) => one === (asked ?? reasoning?.["effort"]));
  if (effort === undefined || offered.includes(effort)) return [];
  const nearest = nearestEffort(effort, offered);
  const fact = "efforts";
  if (asked !== undefined) {
    const field = "reasoning_effort";
    return [nearest === undefined ? { remove: field, fact } : { set: field, value: JSON.stringify(nearest), fact }];
  }
  return [{ set: "reasoning", value: JSON.stringify({ ...reasoning, effort: nearest }), fact }];
}

/** Sampling parameters that the model refuses are left out: clients know such models by name, which the prefix hides. */
export function fitSampling(body: JsonObject, { refusedSampling, samplesWithoutThought }: ModelFacts): JsonEdit[] {
  if (refusedSampling === undefined) return [];
  const effort = body["reasoning_effort"] ?? objectOf(body["reasoning"])?.["effort"] ?? "none";
  if (samplesWithoutThought === true && effort === "none") return [];
  return refusedSampling.flatMap((name): JsonEdit[] =>
    name in body && body[name] !== null && body[name] !== defaults[name] ? [{ remove: name, fact: "sampling" }] : [],
  );
}

/** The former name of the limit; if both are given, the new one counts. */
function fitLimit(body: JsonObject, { newLimitName }: ModelFacts): JsonEdit[] {
  const former = "max_tokens";
  const fact = "output-limit";
  if (newLimitName !== true || !(former in body)) return [];
  return typeof body["max_completion_tokens"] === "number"
    ? [{ remove: former, fact }]
    : [{ rename: former, to: "max_completion_tokens", fact }];
}
