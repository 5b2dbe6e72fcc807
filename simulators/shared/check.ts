import { asArray, asObject, isObject, type JsonObject } from "./json.ts";

/** What is wrong with a request's shape; each provider words it in its own error body. */
export type Problem =
  | { readonly kind: "not-json" }
  | { readonly kind: "missing"; readonly field: string }
  | { readonly kind: "unknown"; readonly field: string; readonly value: unknown }
  | { readonly kind: "wrong-type"; readonly field: string; readonly expected: string; readonly value: unknown }
  | { readonly kind: "bad-value"; readonly field: string; readonly message: string; readonly value: unknown }
  | { readonly kind: "unsupported"; readonly field: string; readonly message: string };

/** Checks one value; a text says what was expected instead. */
export type Check = (value: unknown) => string | null;

/** A provider's rules for a chat request. */
export interface ChatRules {
  /** Top-level fields and their types. */
  readonly fields: { readonly [name: string]: Check };
  /** Fields that the provider's schema lacks are refused. */
  readonly strict: boolean;
  readonly roles: readonly string[];
}

const named =
  (expected: string, holds: (value: unknown) => boolean): Check =>
  (value) =>
    holds(value) ? null : expected;

export const isText = named("a string", (value) => typeof value === "string");
export const isFlag = named("a boolean", (value) => typeof value === "boolean");
export const isRecord = named("an object", isObject);
export const isList = named("an array", Array.isArray);
export const isAnything: Check = () => null;
const isStop = named(
  "a string or an array of strings",
  (value) => typeof value === "string" || (Array.isArray(value) && value.every((entry) => typeof entry === "string")),
);
const isChoice = named("a string or an object", (value) => typeof value === "string" || isObject(value));

/** A whole number from `min` to `max`. */
export function isInteger(min: number, max: number): Check {
  return named(`an integer from ${min} to ${max}`, (value) => Number.isInteger(value) && within(value, min, max));
}

/** Any number from `min` to `max`. */
export function isNumber(min: number, max: number): Check {
  return named(`a number from ${min} to ${max}`, (value) => within(value, min, max));
}

function within(value: unknown, min: number, max: number): boolean {
  return typeof value === "number" && value >= min && value <= max;
}

/** One of a closed set of words. */
export function isOneOf(...words: readonly string[]): Check {
  return named(`one of ${words.join(", ")}`, (value) => typeof value === "string" && words.includes(value));
}

const tokensMax = 100_000_000;

/** The fields that every chat dialect of the family knows. A null counts as absent. */
export const commonChatFields: { readonly [name: string]: Check } = {
  model: isText,
  messages: isList,
  max_tokens: isInteger(1, tokensMax),
  stream: isFlag,
  stop: isStop,
  temperature: isNumber(0, 2),
  top_p: isNumber(0, 1),
  tools: isList,
  tool_choice: isChoice,
  response_format: isRecord,
};

/** The first thing wrong with a chat request, null where all is well. */
export function checkChat(body: unknown, rules: ChatRules): Problem | null {
  if (!isObject(body)) return { kind: "not-json" };
  return (
    checkPresent(body) ??
    checkFields(body, rules) ??
    checkMessages(body["messages"], rules) ??
    checkTools(body["tools"]) ??
    checkStreamOptions(body)
  );
}

function checkPresent(body: JsonObject): Problem | null {
  for (const field of ["model", "messages"]) {
    if (body[field] === undefined || body[field] === null || body[field] === "") return { kind: "missing", field };
  }
  return null;
}

function checkFields(body: JsonObject, rules: ChatRules): Problem | null {
  for (const [field, value] of Object.entries(body)) {
    const check = Object.hasOwn(rules.fields, field) ? rules.fields[field] : undefined;
    if (check === undefined) {
      if (rules.strict) return { kind: "unknown", field, value };
      continue;
    }
    const expected = value === null ? null : check(value);
    if (expected !== null) return { kind: "wrong-type", field, expected, value };
  }
  return null;
}

function checkMessages(messages: unknown, rules: ChatRules): Problem | null {
  if (!Array.isArray(messages) || messages.length === 0) {
    return { kind: "bad-value", field: "messages", message: "expected at least one message", value: messages };
  }
  for (const [index, message] of messages.entries()) {
    const problem = checkMessage(message, `messages[${index}]`, rules);
    if (problem !== null) return problem;
  }
  return null;
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
  return checkContent(message, role, `${field}.content`);
}

function checkContent(message: JsonObject, role: string, field: string): Problem | null {
  const content = message["content"];
  const absent = content === undefined || content === null;
  if (absent) return role === "assistant" ? null : { kind: "missing", field };
  if (typeof content === "string") return null;
  if (Array.isArray(content) && content.every((part) => isObject(part) && typeof part["type"] === "string"))
    return null;
  return { kind: "wrong-type", field, expected: "a string or an array of content parts", value: content };
}

function checkTools(tools: unknown): Problem | null {
  if (!Array.isArray(tools)) return null;
  for (const [index, tool] of tools.entries()) {
    const field = `tools[${index}]`;
    if (!isObject(tool)) return { kind: "wrong-type", field, expected: "an object", value: tool };
    if (typeof tool["type"] !== "string") return { kind: "missing", field: `${field}.type` };
    const described = tool[tool["type"]];
    if (tool["type"] === "function" && (!isObject(described) || typeof described["name"] !== "string")) {
      return { kind: "missing", field: `${field}.function.name` };
    }
  }
  return null;
}

function checkStreamOptions(body: JsonObject): Problem | null {
  const absent = body["stream_options"] === undefined || body["stream_options"] === null;
  if (absent || body["stream"] === true) return null;
  return {
    kind: "bad-value",
    field: "stream_options",
    message: "only allowed when 'stream' is enabled",
    value: body["stream_options"],
  };
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
