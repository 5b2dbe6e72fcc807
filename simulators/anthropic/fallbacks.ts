import { asArray, asObject, type JsonObject } from "../shared/json.ts";

/** The model that Anthropic chooses for `default`. */
const usual = "claude-opus-4-8";

/** The requests of the models that answer instead, in their order: they do not decline. */
export function fallbackBodies(body: JsonObject): JsonObject[] {
  const { fallbacks, ...rest } = body;
  const entries = fallbacks === "default" ? [{ model: usual }] : asArray(fallbacks).map(asObject);
  const messages: unknown = JSON.parse(JSON.stringify(rest["messages"]).replaceAll(/refuse:\w+/g, "fallback"));
  return entries.map((entry) => ({ ...rest, ...entry, messages }));
}

/** The block between the output of a model that declined and that of the next one. */
export function fallbackBlock(from: unknown, to: unknown, category: unknown): JsonObject {
  return { type: "fallback", from: { model: from }, to: { model: to }, trigger: { type: "refusal", category } };
}

/** The usage of an answer after other models declined: its figures stand at the top. */
export function fallbackUsage(usage: JsonObject, declined: unknown, model: unknown): JsonObject {
  const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens, cache_creation } = usage;
  const counts = { input_tokens, cache_read_input_tokens, cache_creation_input_tokens, cache_creation };
  const iterations = [
    { type: "message", model: declined, ...counts, output_tokens: 0 },
    { type: "fallback_message", model, ...counts, output_tokens },
  ];
  return { ...usage, iterations };
}
