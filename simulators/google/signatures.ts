import type { Turn } from "../shared/answer.ts";
import type { Problem } from "../shared/check.ts";
import type { Identity } from "../shared/identity.ts";
import { asArray, asObject, type JsonObject } from "../shared/json.ts";
import { sealOf } from "../shared/seal.ts";
import { first } from "../shared/shape.ts";
import type { ToolCall } from "../shared/tool-calls.ts";

const seal = sealOf("google thought");

/** Sent by callers that have lost the signature. */
const sentinel = "skip_thought_signature_validator";

export const missing = "Function call is missing a thought_signature.";
const forged = "Thought signature is not valid.";

/** Whether a caller says that it has lost the signature. */
export const isSentinel = (given: unknown): boolean => given === sentinel;

/** Whether a signature is one of this API's, in base64 as its bytes are. */
export function isGenuine(given: unknown): boolean {
  return seal.open(given) !== undefined;
}

/** The signature of an answer's text. */
export const textSignature = (text: string): string => seal.close([text.slice(0, 40)]);

/** The id of a call. */
export function callId(call: ToolCall, identity: Identity): string {
  return `function-call-${identity.number(call.label, 1_000_000_000)}`;
}

/** The signature of a turn that calls tools. */
export function signature(turn: Turn): string {
  return seal.close(turn.toolCalls.map(({ name }) => name));
}

/**
 * A returned signature must be the generated one; models from Gemini 3 on refuse the calls of the current tool loop
 * without one.
 */
export function refuseSignatures(body: JsonObject): Problem | null {
  const messages = asArray(body["messages"]).map(asObject);
  const wanted = /gemini-[3-9]/.test(String(body["model"]));
  const loopStart = messages.findLastIndex((message) => message["role"] === "user") + 1;
  return first(messages.entries(), ([index, message]) => {
    const calls = asArray(message["tool_calls"]).map(asObject);
    if (calls.length === 0) return null;
    const field = `messages[${index}].tool_calls[0]`;
    const given = asObject(asObject(calls[0]?.["extra_content"])["google"])["thought_signature"];
    if (given === undefined) return wanted && index >= loopStart ? refusal(field, missing) : null;
    return given === sentinel || isOurs(given, calls) ? null : refusal(field, forged);
  });
}

function refusal(field: string, message: string): Problem {
  return { kind: "unsupported", field, message };
}

function isOurs(given: unknown, calls: readonly JsonObject[]): boolean {
  const names = calls.map((call) => asObject(call["function"])["name"]);
  return JSON.stringify(seal.open(given)) === JSON.stringify(names);
}
