/** What single models of a provider do not take, though their endpoint knows the field. */
import type { Problem } from "./check.ts";
import { asArray, asObject, isGiven, type JsonObject } from "./json.ts";
import { first } from "./shape.ts";

/** The efforts of thinking of some models; the first row that matches a model counts, and none means any effort. */
export type EffortRows = readonly (readonly [models: RegExp, efforts: readonly string[]])[];

/** Refuses an effort that the model lacks, in chat and Responses. */
export function refuseEffort(body: JsonObject, rows: EffortRows): Problem | null {
  const chat = body["reasoning_effort"];
  const [field, effort] = isGiven(chat)
    ? ["reasoning_effort", chat]
    : ["reasoning.effort", asObject(body["reasoning"])["effort"]];
  const taken = rows.find(([models]) => models.test(String(body["model"])))?.[1];
  if (!isGiven(effort) || taken === undefined || taken.includes(String(effort))) return null;
  const supported = taken.length === 0 ? "This model takes no effort." : `Supported values are: ${taken.join(", ")}.`;
  return {
    kind: "unsupported",
    field,
    message: `Unsupported value: '${field}' does not support '${String(effort)}' with this model. ${supported}`,
  };
}

/** Refuses a system prompt behind another message; `message` is in the provider's words. */
export function refuseLateSystem(body: JsonObject, message: (before: string) => string): Problem | null {
  const roles = asArray(body["messages"]).map((each) => String(asObject(each)["role"]));
  return first(roles.entries(), ([index, role]) => {
    const before = roles[index - 1];
    if (role !== "system" || before === undefined) return null;
    return { kind: "unsupported", field: `messages[${index}]`, message: message(before) };
  });
}
