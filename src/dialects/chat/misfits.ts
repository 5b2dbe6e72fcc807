import { type JsonObject, listOf, type ModelFacts, objectOf } from "../../core/index.ts";
import { isImageAddress } from "../conversation/index.ts";
import { refusedMembers } from "./message-members.ts";

/**
 * Whether a body must be rewritten for its model, because something deeper than its members does not fit. Members alone
 * are edited by the provider.
 */
export function misfitsChat({ messages, tools, response_format: format }: JsonObject, facts: ModelFacts): boolean {
  if (facts.formats === "json" && objectOf(format)?.["type"] === "json_schema") return true;
  if (facts.plainSchemas === true && listOf(tools).some(hasAlternatives)) return true;
  const { developerRole = false, systemFirst = false, shortCallIds = false, reasoningField } = facts;
  if (facts.marksPrefill === true && isPrefill(objectOf(listOf(messages).at(-1)))) return true;
  if (facts.refusesPrefill === true && isAnswer(objectOf(listOf(messages).at(-1)))) return true;
  if (facts.needsCallSignature === true && hasUnsignedCalls(listOf(messages))) return true;
  if (facts.inlineImages === true && listOf(messages).some(hasImageAddress)) return true;
  if (developerRole && !systemFirst && !shortCallIds && facts.noMessageNames !== true) return false;
  for (const [index, each] of listOf(messages).entries()) {
    const message = objectOf(each) ?? {};
    const { role } = message;
    if (refusedMembers(message, facts).length > 0) return true;
    if (role === "developer" && !developerRole) return true;
    if (systemFirst && index > 0 && (role === "system" || role === "developer")) return true;
    if (shortCallIds && hasLongCallId(message)) return true;
    if (reasoningField === "part" && hasThought(message)) return true;
  }
  return false;
}

function hasImageAddress(message: unknown): boolean {
  const content = objectOf(message)?.["content"];
  return (
    Array.isArray(content) &&
    listOf(content).some((part) => isImageAddress(objectOf(objectOf(part)?.["image_url"])?.["url"]))
  );
}

function hasThought({ reasoning_content: content, reasoning, reasoning_details: details }: JsonObject): boolean {
  return [content, reasoning, details].some((one) => one !== undefined);
}

function hasAlternatives(tool: unknown): boolean {
  const schema = objectOf(objectOf(objectOf(tool)?.["function"])?.["parameters"]) ?? {};
  return ["oneOf", "anyOf", "allOf"].some((keyword) => schema[keyword] !== undefined);
}

/** Whether an answer since the user's last words calls tools without the signature of its thought. */
function hasUnsignedCalls(messages: readonly unknown[]): boolean {
  const roles = messages.map((message) => objectOf(message)?.["role"]);
  return messages.slice(roles.lastIndexOf("user") + 1).some((message) => {
    const [first] = listOf(objectOf(message)?.["tool_calls"]);
    return first !== undefined && objectOf(first)?.["extra_content"] === undefined;
  });
}

/** Whether a message is an answer without calls, which would be continued. */
function isAnswer({ role, tool_calls: calls }: JsonObject = {}): boolean {
  return role === "assistant" && listOf(calls).length === 0;
}

/** Whether the last message is the beginning of an answer that is not marked as one. */
function isPrefill(last: JsonObject | undefined): boolean {
  return last?.["role"] === "assistant" && last["prefix"] !== true;
}

const shortId = /^[a-zA-Z0-9]{9}$/;

function hasLongCallId({ tool_calls: calls, tool_call_id: answered }: JsonObject): boolean {
  if (typeof answered === "string" && !shortId.test(answered)) return true;
  return listOf(calls).some((call) => {
    const id = objectOf(call)?.["id"];
    return typeof id === "string" && !shortId.test(id);
  });
}
