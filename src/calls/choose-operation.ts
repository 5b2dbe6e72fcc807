/** The operation of a provider that a call's body needs, if its own dialect's would refuse or ignore a part of it. */
import { type Dialect, type JsonObject, listOf, objectOf } from "../core/index.ts";
import type { TextCodec } from "../dialects/index.ts";
import type { MediaCodec } from "../media/index.ts";
import type { UpstreamOperation } from "../providers/index.ts";
import type { Target } from "../routing/index.ts";

/** In the order of preference: parts that only one dialect has get lost in the others. */
const preferred: readonly Dialect[] = ["messages", "responses", "chat"];

/**
 * The target with an operation of its provider that takes the body as it is: an endpoint that ignores a format of
 * the answer would charge for an answer that nobody can use. The target as it is if the provider has no such operation.
 */
export function withAskedFeatures<Body>(target: Target, codec: TextCodec<Body> | MediaCodec<Body>, body: Body): Target {
  const { forPrefill } = target.operation;
  if (forPrefill !== undefined && isContinued(objectOf(body) ?? {})) return { ...target, operation: forPrefill };
  const forBody = target.operation.forBody?.(objectOf(body) ?? {});
  if (forBody !== undefined) return { ...target, operation: forBody };
  if (codec.dialect === "chat") {
    const other = otherForTools(target, objectOf(body) ?? {});
    if (other !== undefined) return { ...target, operation: other };
  }
  if (codec.dialect === "responses" && isSwitchedOff(target, objectOf(body) ?? {})) {
    return { ...target, operation: target.route.provider.operations.chat ?? target.operation };
  }
  const { ignores } = target.operation;
  if (ignores === undefined || codec.dialect === undefined) return target;
  const asked = codec.asks(body).filter((feature) => ignores.includes(feature));
  if (asked.length === 0) return target;
  const { operations } = target.route.provider;
  for (const dialect of preferred) {
    const other = operations[dialect];
    if (other !== undefined && !asked.some((feature) => other.ignores?.includes(feature) === true)) {
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

/** The operation for a call of chat whose functions the model does not take at its chat endpoint; undefined: that one. */
function otherForTools({ operation, model, route }: Target, body: JsonObject): UpstreamOperation | undefined {
  const facts = operation.dialect === "chat" ? operation.facts?.(model) : undefined;
  if (facts?.toolsWithoutThought !== true && facts?.freeToolChoice !== true) return undefined;
  const { tools, tool_choice: choice, reasoning_effort: effort } = body;
  if (!listOf(tools).some((tool) => objectOf(tool)?.["type"] === "function")) return undefined;
  const { messages, responses } = route.provider.operations;
  if (facts.freeToolChoice === true) {
    return choice === "required" || objectOf(choice) !== undefined ? messages : undefined;
  }
  const thinks = effort !== "none" || facts.efforts?.includes("none") === false;
  return thinks && responses !== undefined ? keepingNothing(responses) : undefined;
}

/** By the provider's own operation. */
const unstored = new WeakMap<UpstreamOperation, UpstreamOperation>();

/** Responses for calls of chat, whose clients do not expect them to be stored. */
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
