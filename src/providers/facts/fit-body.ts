/** Edits for members of a body that its model does not take. Whatever is deeper in a body is the dialects' to change. */
import type { JsonEdit } from "../../bodies/index.ts";
import {
  type Effort,
  effortOfBudget,
  efforts,
  type JsonObject,
  listOf,
  type ModelFacts,
  nearestEffort,
  objectOf,
} from "../../core/index.ts";

/** The values of sampling parameters that change nothing. */
const defaults: JsonObject = { temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0 };

/** Almost all bodies need no edit of a kind. */
const none: readonly JsonEdit[] = [];

/** The edits of a body in chat or Responses, in which the effort has different places. */
export function fitBody(body: JsonObject, facts: ModelFacts): JsonEdit[] {
  const limit = fitLimit(body, facts);
  if (facts.needsThoughts === true && lacksThoughts(body)) return [...withoutThinking(body), ...limit];
  const thought = facts.effortAlone === true ? fitThought(body, facts) : undefined;
  return [...(thought ?? fitEffort(body, facts)), ...fitSampling(body, facts), ...limit];
}

/** Clients of OpenAI's SDKs do not return thoughts, of which their types know nothing. */
function lacksThoughts({ tools, messages, thinking }: JsonObject): boolean {
  if (listOf(tools).length === 0 || objectOf(thinking)?.["type"] === "disabled") return false;
  return listOf(messages).some((message) => {
    const { role, reasoning_content: thought } = objectOf(message) ?? {};
    return role === "assistant" && typeof thought !== "string";
  });
}

function withoutThinking(body: JsonObject): JsonEdit[] {
  const fact = "thinking";
  const off: JsonEdit = { set: "thinking", value: JSON.stringify({ type: "disabled" }), fact };
  return "reasoning_effort" in body ? [off, { remove: "reasoning_effort", fact }] : [off];
}

/** What other providers have in the place of an effort becomes one, unless there is one. Undefined for a body without it. */
function fitThought(body: JsonObject, facts: ModelFacts): JsonEdit[] | undefined {
  const { reasoning_effort: named, reasoning, thinking } = body;
  if (reasoning === undefined && thinking === undefined) return undefined;
  const given = ["reasoning", "thinking"].filter((name) => body[name] !== undefined);
  const fact = "thinking";
  const removed = given.map((name): JsonEdit => ({ remove: name, fact }));
  if (typeof named === "string") return [...removed, ...fitEffort({ reasoning_effort: named }, facts)];
  const asked = askedEffort(objectOf(reasoning) ?? {}, objectOf(thinking) ?? {});
  const effort = asked === undefined || facts.efforts === undefined ? asked : nearestEffort(asked, facts.efforts);
  return effort === undefined
    ? removed
    : [...removed, { set: "reasoning_effort", value: JSON.stringify(effort), fact }];
}

function askedEffort(
  { effort, max_tokens, enabled }: JsonObject,
  { type, budget_tokens }: JsonObject,
): Effort | undefined {
  const named = efforts.find((one) => one === effort);
  if (named !== undefined) return named;
  if (enabled === false || type === "disabled") return "none";
  const budget = max_tokens ?? budget_tokens;
  return typeof budget === "number" ? effortOfBudget(budget) : undefined;
}

/** An effort that the model refuses becomes the nearest lower one that it takes. */
function fitEffort(body: JsonObject, { efforts: offered, hasThinkingSwitch }: ModelFacts): readonly JsonEdit[] {
  if (offered === undefined) return none;
  const { reasoning_effort: asked, thinking } = body;
  if (asked === "none" && hasThinkingSwitch === true) {
    const fact = "efforts";
    const off: JsonEdit = { set: "thinking", value: JSON.stringify({ type: "disabled" }), fact };
    return [{ remove: "reasoning_effort", fact }, ...(thinking === undefined ? [off] : [])];
  }
  const reasoning = objectOf(body["reasoning"]);
  const effort = efforts.find((one) => one === (asked ?? reasoning?.["effort"]));
  if (effort === undefined || offered.includes(effort)) return none;
  const nearest = nearestEffort(effort, offered);
  const fact = "efforts";
  if (asked !== undefined) {
    const field = "reasoning_effort";
    return [nearest === undefined ? { remove: field, fact } : { set: field, value: JSON.stringify(nearest), fact }];
  }
  return [{ set: "reasoning", value: JSON.stringify({ ...reasoning, effort: nearest }), fact }];
}

/** Sampling parameters that the model refuses are left out: clients know such models by name, which the prefix hides. */
export function fitSampling(
  body: JsonObject,
  { refusedSampling, samplesWithoutThought }: ModelFacts,
): readonly JsonEdit[] {
  if (refusedSampling === undefined) return none;
  const effort = body["reasoning_effort"] ?? objectOf(body["reasoning"])?.["effort"] ?? "none";
  if (samplesWithoutThought === true && effort === "none") return none;
  return refusedSampling.flatMap((name): JsonEdit[] =>
    name in body && body[name] !== null && body[name] !== defaults[name] ? [{ remove: name, fact: "sampling" }] : [],
  );
}

/** The former name of the limit; if both are given, the new one counts. */
function fitLimit(body: JsonObject, { newLimitName }: ModelFacts): readonly JsonEdit[] {
  const former = "max_tokens";
  const fact = "output-limit";
  if (newLimitName !== true || !(former in body)) return none;
  return typeof body["max_completion_tokens"] === "number"
    ? [{ remove: former, fact }]
    : [{ rename: former, to: "max_completion_tokens", fact }];
}
