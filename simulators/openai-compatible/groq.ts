import type { TokenCounts } from "../shared/answer.ts";
import { shortToolName } from "../shared/chat/check.ts";
import type { ChatTalk, ChatWire, ChunkPosition } from "../shared/chat/wire.ts";
import type { Problem } from "../shared/check.ts";
import { asArray, asObject, isGiven, type JsonObject } from "../shared/json.ts";
import { plainWire } from "./plain.ts";

const plain = plainWire("reasoning");

function refuse(body: JsonObject): Problem | null {
  for (const field of ["logprobs", "logit_bias", "top_logprobs"]) {
    if (isGiven(body[field])) return unsupported(field);
  }
  if (typeof body["n"] === "number" && body["n"] !== 1) return unsupported("n");
  const named = asArray(body["messages"]).findIndex((message) => asObject(message)["name"] !== undefined);
  return named < 0 ? null : unsupported(`messages.${named}.name`);
}

function unsupported(field: string): Problem {
  return { kind: "unsupported", field, message: "property is unsupported" };
}

function usage(tokens: TokenCounts, talk: ChatTalk): JsonObject {
  const times = { queue_time: 0.05, prompt_time: 0.01, completion_time: 0.1, total_time: 0.11 };
  return { ...plain.usage(tokens, talk), ...times };
}

function requestId(talk: ChatTalk): string {
  return `req_${talk.call.identity.hex("groq", 26)}`;
}

/** The first chunk names the request, the finishing one has the usage whether asked for or not. */
function dressChunk(chunk: JsonObject, talk: ChatTalk, position: ChunkPosition): JsonObject {
  const id = requestId(talk);
  if (position.first) return { ...chunk, x_groq: { id } };
  if (!position.finishing || talk.call.faults.noUsage) return chunk;
  return { ...chunk, x_groq: { id, usage: usage(talk.answer.tokens, talk) } };
}

/** Groq: models with names beginning with `groq-`. */
export const groqWire: ChatWire = {
  ...plain,
  rules: { ...plain.rules, toolName: shortToolName },
  refuse,
  usage,
  envelope: () => ({ system_fingerprint: "fp_simulated", service_tier: "on_demand" }),
  dressCompletion: (completion, talk) => ({ ...completion, x_groq: { id: requestId(talk) } }),
  dressChunk,
};
