/** The operation of a provider that a call's body needs, if its own dialect's would refuse or ignore a part of it. */
import { type Dialect, type JsonObject, listOf, objectOf } from "../core/index.ts";
import type { TextCodec } from "../dialects/index.ts";
import type { MediaCodec } from "../media/index.ts";
import type { UpstreamOperation } from "../providers/index.ts";
import type { Target } from "../routing/index.ts";

/** In the order of preference: parts that only one dialect has get lost in the others. */
const preferred: readonly Dialect[] = ["messages", "responses", "gemini", "chat"];

/**
 * The target with an operation of its provider that takes the body as it is: an endpoint that ignores a format of
 * the answer would charge for an answer that nobody can use. The target as it is if the provider has no such operation.
 */
export function withAskedFeatures<Body>(target: Target, codec: TextCodec<Body> | MediaCodec<Body>, body: Body): Target {
  const { forPrefill } = target.operation;
  const members = objectOf(body) ?? {};
  if (forPrefill !== undefined && isContinued(members)) return { ...target, operation: forPrefill };
  const forBody = target.operation.forBody?.(members);
  if (forBody !== undefined) return { ...target, operation: forBody };
  if (members["tools"] !== undefined && codec.dialect !== undefined && target.operation.dialect === "chat") {
    const other = otherForTools(target, codec.dialect, members);
    if (other !== undefined) return { ...target, operation: other };
  }
  if (codec.dialect === "responses" && isSwitchedOff(target, members)) {
    return { ...target, operation: target.route.provider.operations.chat ?? target.operation };
  }
  const ignored = codec.dialect === undefined ? undefined : target.operation.ignores?.(target.model);
  if (ignored === undefined || codec.dialect === undefined) return target;
  const { provider, prefix } = target.route;
  const asked = codec.asks(body, prefix).filter((feature) => ignored.includes(feature));
  if (asked.length === 0) return target;
  for (const dialect of preferred) {
    const other = provider.operations[dialect];
    if (other !== undefined && !asked.some((feature) => other.ignores?.(target.model).includes(feature) === true)) {
      return { ...target, operation: other };
    }
  }
  return target;
}

/** Whether the model is asked not to think, by a switch that only chat has. */
function isSwitchedOff({ operation, model }: Target, { reasoning }: JsonObject): boolean {
  return objectOf(reasoning)?.["effort"] === "none" && operation.facts?.(model).hasThinkingSwitch === true;
}

/** Whether the last message is the beginning of the answer. */
function isContinued({ messages, input }: JsonObject): boolean {
  return objectOf(listOf(messages ?? input).at(-1))?.["role"] === "assistant";
}

/** The use of tools that a body asks for. */
interface AskedTools {
  /** Whether it has functions, or tools that become some. */
  hasFunctions: boolean;
  /** Whether one must be called. */
  isForced: boolean;
  /** Whether the model is asked not to think. */
  isUnthinking: boolean;
}

const askedTools: Readonly<Record<Dialect, (body: JsonObject) => AskedTools>> = {
  chat: ({ tools, tool_choice: choice, reasoning_effort: effort }) => ({
    hasFunctions: listOf(tools).some((tool) => objectOf(tool)?.["type"] === "function"),
    isForced: choice === "required" || objectOf(choice) !== undefined,
    isUnthinking: effort === "none",
  }),
  responses: ({ tools, tool_choice: choice, reasoning }) => ({
    hasFunctions: listOf(tools).length > 0,
    isForced: choice === "required" || objectOf(choice) !== undefined,
    isUnthinking: objectOf(reasoning)?.["effort"] === "none",
  }),
  messages: ({ tools, tool_choice: choice, thinking }) => ({
    hasFunctions: listOf(tools).length > 0,
    isForced: ["any", "tool"].includes(String(objectOf(choice)?.["type"])),
    isUnthinking: objectOf(thinking)?.["type"] === "disabled",
  }),
  gemini: ({ tools, toolConfig, generationConfig }) => ({
    hasFunctions: listOf(tools).some((tool) => listOf(objectOf(tool)?.["functionDeclarations"]).length > 0),
    isForced: objectOf(objectOf(toolConfig)?.["functionCallingConfig"])?.["mode"] === "ANY",
    isUnthinking: objectOf(objectOf(generationConfig)?.["thinkingConfig"])?.["thinkingBudget"] === 0,
  }),
};

/** The operation for a call whose functions the model does not take at its chat endpoint; undefined: that one. */
function otherForTools(
  { operation, model, route }: Target,
  dialect: Dialect,
  body: JsonObject,
): UpstreamOperation | undefined {
  const facts = operation.facts?.(model);
  if (facts?.toolsWithoutThought !== true && facts?.freeToolChoice !== true) return undefined;
  const { hasFunctions, isForced, isUnthinking } = askedTools[dialect](body);
  if (!hasFunctions) return undefined;
  const { messages, responses } = route.provider.operations;
  if (facts.freeToolChoice === true) return isForced ? messages : undefined;
  const thinks = !isUnthinking || facts.efforts?.includes("none") === false;
  return thinks && responses !== undefined ? keepingNothing(responses) : undefined;
}

/** By the provider's own operation. */
const unstored = new WeakMap<UpstreamOperation, UpstreamOperation>();

/** Responses for calls of other dialects, whose clients do not expect them to be stored. */
function keepingNothing(responses: UpstreamOperation): UpstreamOperation {
  const before = unstored.get(responses);
  if (before !== undefined) return before;
  const operation: UpstreamOperation = {
    ...responses,
    edits: (body, model) => [...responses.edits(body, model), { set: "store", value: "false", fact: "chat-tools" }],
  };
  unstored.set(responses, operation);
  return operation;
}
