import {
  type Check,
  isFlag,
  isInteger,
  isList,
  isNumber,
  isRecord,
  isText,
  isTextOrList,
  isTextOrRecord,
  isTokenLimit,
  type Problem,
} from "../check.ts";
import { asArray, asObject, isGiven, isObject, type JsonObject } from "../json.ts";
import { checkStreamOptions, first, tolerantRecord, type Shape, values } from "../shape.ts";

/** A provider's rules for a chat request. */
export interface ChatRules {
  /** Top-level fields and their types. */
  readonly fields: { readonly [name: string]: Check };
  /** Fields that the provider's schema lacks are refused. */
  readonly strict: boolean;
  readonly roles: readonly string[];
  /** The names that tools may have, in the history too; any by default. */
  readonly toolName?: RegExp;
  /** Tools may take free text, which only OpenAI's do. */
  readonly takesFreeText?: true;
  /** Shapes of the content parts that are looked at; parts of other types pass. */
  readonly parts?: { readonly [type: string]: Shape };
}

/** The fields that every chat dialect of the family knows. A null counts as absent. */
const commonFields: { readonly [name: string]: Check } = {
  model: isText,
  messages: isList,
  max_tokens: isTokenLimit,
  stream: isFlag,
  stop: isTextOrList,
  temperature: isNumber(0, 2),
  top_p: isNumber(0, 1),
  tools: isList,
  tool_choice: isTextOrRecord,
  response_format: isRecord,
};

/** Fields that some of the family know. */
const furtherFields = {
  frequency_penalty: isNumber(-2, 2),
  logprobs: isFlag,
  max_completion_tokens: isTokenLimit,
  metadata: isRecord,
  modalities: isList,
  n: isInteger(1, 128),
  parallel_tool_calls: isFlag,
  prediction: isRecord,
  presence_penalty: isNumber(-2, 2),
  prompt_cache_key: isText,
  stream_options: isRecord,
  thinking: isRecord,
} satisfies { readonly [name: string]: Check };

/** The fields of one provider: the common ones, the named further ones, and its own. */
export function chatFields(
  further: readonly (keyof typeof furtherFields)[],
  own: { readonly [name: string]: Check } = {},
): ChatRules["fields"] {
  return { ...commonFields, ...Object.fromEntries(further.map((name) => [name, furtherFields[name]])), ...own };
}

/** The first violation of a chat request, or null. */
export function checkChat(body: unknown, rules: ChatRules): Problem | null {
  if (!isObject(body)) return { kind: "not-json" };
  return (
    checkPresent(body) ??
    tolerantRecord(values(rules.fields), { open: !rules.strict })(body, "") ??
    checkMessages(body["messages"], rules) ??
    checkTools(body["tools"], rules) ??
    checkToolNames(body, rules) ??
    checkStreamOptions(body)
  );
}

function checkPresent(body: JsonObject): Problem | null {
  for (const field of ["model", "messages"]) {
    if (body[field] === undefined || body[field] === null || body[field] === "") return { kind: "missing", field };
  }
  return null;
}

function checkMessages(messages: unknown, rules: ChatRules): Problem | null {
  if (!Array.isArray(messages) || messages.length === 0) {
    return { kind: "bad-value", field: "messages", message: "expected at least one message", value: messages };
  }
  return first(messages.entries(), ([index, message]) => checkMessage(message, `messages[${index}]`, rules));
}

function checkMessage(message: unknown, field: string, rules: ChatRules): Problem | null {
  if (!isObject(message)) return { kind: "wrong-type", field, expected: "an object", value: message };
  const role = message["role"];
  if (role === undefined) return { kind: "missing", field: `${field}.role` };
  if (typeof role !== "string" || !rules.roles.includes(role)) {
    const supported = rules.roles.join(", ");
    return { kind: "bad-value", field: `${field}.role`, message: `supported values are ${supported}`, value: role };
  }
  if (role === "tool" && typeof message["tool_call_id"] !== "string") {
    return { kind: "missing", field: `${field}.tool_call_id` };
  }
  return checkContent(message, role, `${field}.content`, rules);
}

function checkContent(message: JsonObject, role: string, field: string, rules: ChatRules): Problem | null {
  const content = message["content"];
  if (!isGiven(content)) return role === "assistant" ? null : { kind: "missing", field };
  if (typeof content === "string") return null;
  const parts = Array.isArray(content) && content.every((part) => isObject(part) && typeof part["type"] === "string");
  if (parts) return checkParts(content, field, rules);
  return { kind: "wrong-type", field, expected: "a string or an array of content parts", value: content };
}

function checkParts(parts: readonly JsonObject[], field: string, rules: ChatRules): Problem | null {
  const shapes = rules.parts ?? {};
  return first(parts.entries(), ([index, part]) => {
    const type = String(part["type"]);
    const shape = Object.hasOwn(shapes, type) ? shapes[type] : undefined;
    return shape === undefined ? null : shape(part, `${field}[${index}]`);
  });
}

function checkTools(tools: unknown, { takesFreeText }: ChatRules): Problem | null {
  return first(asArray(tools).entries(), ([index, tool]) => {
    const field = `tools[${index}]`;
    if (!isObject(tool)) return { kind: "wrong-type", field, expected: "an object", value: tool };
    if (typeof tool["type"] !== "string") return { kind: "missing", field: `${field}.type` };
    if (tool["type"] === "custom" && takesFreeText !== true) {
      return { kind: "bad-value", field: `${field}.type`, message: "unknown type of tool", value: tool["type"] };
    }
    const described = tool[tool["type"]];
    const nameless = tool["type"] === "function" && (!isObject(described) || typeof described["name"] !== "string");
    return nameless ? { kind: "missing", field: `${field}.function.name` } : null;
  });
}

/** As most providers have them. */
export const shortToolName = /^[a-zA-Z0-9_-]{1,64}$/;

function checkToolNames(body: JsonObject, { toolName }: ChatRules): Problem | null {
  if (toolName === undefined) return null;
  const named = [body["tools"], ...asArray(body["messages"]).map((message) => asObject(message)["tool_calls"])];
  const names = named.flatMap(asArray).map((one) => asObject(asObject(one)["function"])["name"]);
  const wrong = names.filter((name) => typeof name === "string").find((name) => !toolName.test(name));
  if (wrong === undefined) return null;
  const message = `string does not match pattern. Expected a string that matches the pattern '${toolName.source}'`;
  return { kind: "bad-value", field: "tools[0].function.name", message, value: wrong };
}

/** Calls and results must pair: each result answers a call just before it, and no call stays without its result. */
export function checkToolPairs(body: JsonObject): Problem | null {
  let open = new Set<unknown>();
  const messages = asArray(body["messages"]).map(asObject);
  for (const [index, message] of messages.entries()) {
    if (message["role"] === "tool") {
      if (!open.delete(message["tool_call_id"]))
        return unpaired(index, "a tool result must follow the call that it answers");
    } else {
      if (open.size > 0) return unpaired(index, "each tool call must be followed by its result");
      open = new Set(asArray(message["tool_calls"]).map((call) => asObject(call)["id"]));
    }
  }
  return open.size === 0 ? null : unpaired(messages.length - 1, "each tool call must be followed by its result");
}

function unpaired(index: number, message: string): Problem {
  return { kind: "bad-value", field: `messages[${index}]`, message, value: null };
}
