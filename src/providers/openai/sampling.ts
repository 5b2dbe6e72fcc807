import type { JsonEdit } from "../../bodies/index.ts";
import { type JsonObject, objectOf } from "../../core/index.ts";

/** The values that models which think accept of these parameters (`docs/wire/openai.md`). */
const onlyValues = { temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0 } as const;

/** Since 5.1 they accept others too while they don't think, which is their default. */
const samplesWithoutThought = /^(?:ft:)?gpt-5\.\d/;

const thinks = /^(?:ft:)?(?:o\d|gpt-[5-9]|codex)/;

/** Models of the same generations that never think. */
const withoutThought = /-chat(?:-|$)|-search(?:-|$)/;

/** Only of known names: behind another base URL, a server may not know the names of later models' parameters. */
function isReasoningModel(model: string): boolean {
  return thinks.test(model) && !withoutThought.test(model);
}

/** Leaves out sampling parameters that a model refuses: clients know these models by name, which the prefix hides. */
export function samplingEdits(body: JsonObject, model: string): JsonEdit[] {
  if (!isReasoningModel(model)) return [];
  const effort = body["reasoning_effort"] ?? objectOf(body["reasoning"])?.["effort"] ?? "none";
  if (samplesWithoutThought.test(model) && effort === "none") return [];
  return Object.entries(onlyValues).flatMap(([name, value]): JsonEdit[] =>
    name in body && body[name] !== null && body[name] !== value ? [{ remove: name }] : [],
  );
}

/** The former name of the limit, which these models refuse; if both are given, the new one counts. */
export function limitEdits(body: JsonObject, model: string): JsonEdit[] {
  const former = "max_tokens";
  if (!(former in body) || !isReasoningModel(model)) return [];
  return typeof body["max_completion_tokens"] === "number"
    ? [{ remove: former }]
    : [{ rename: former, to: "max_completion_tokens" }];
}
