import type { TokenCounts } from "../shared/answer.ts";
import { inlineUrl } from "../shared/attachments.ts";
import { type ChatRules, shortToolName } from "../shared/chat/check.ts";
import type { ChatTalk, ChatWire, ChunkPosition } from "../shared/chat/wire.ts";
import type { Problem } from "../shared/check.ts";
import { asArray, asObject, isGiven, type JsonObject } from "../shared/json.ts";
import { refuseEffort } from "../shared/limits.ts";
import { record, type Shape } from "../shared/shape.ts";
import { plainWire } from "./plain.ts";

const plain = plainWire("reasoning_content");

/** Cached tokens are reported at the top level as well. */
function usage(tokens: TokenCounts, talk: ChatTalk): JsonObject {
  return { ...plain.usage(tokens, talk), ...(tokens.cached === 0 ? {} : { cached_tokens: tokens.cached }) };
}

/** The finishing choice holds the usage too, asked for or not. */
function dressChunk(chunk: JsonObject, talk: ChatTalk, position: ChunkPosition): JsonObject {
  if (!position.finishing || talk.call.faults.noUsage) return chunk;
  const choices = asArray(chunk["choices"]).map((choice) => ({
    ...asObject(choice),
    usage: usage(talk.answer.tokens, talk),
  }));
  return { ...chunk, choices };
}

/** Images come inline, or as the id of a file; nothing is fetched. */
const imageUrl: Shape = (url, field) => (String(url).startsWith("ms://") ? null : inlineUrl(url, field));
const imagePart = record({ image_url: record({ url: imageUrl }, { open: true }) }, { open: true });
const rules: ChatRules = { ...plain.rules, toolName: shortToolName, parts: { image_url: imagePart } };

const fixed: Readonly<Record<string, number>> = { temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0 };

/** Sampling is fixed, and one generation has efforts of its own. */
function refuse(body: JsonObject): Problem | null {
  const field = Object.keys(fixed).find((name) => isGiven(body[name]) && body[name] !== fixed[name]);
  if (field !== undefined)
    return { kind: "unsupported", field, message: `only ${fixed[field]} is allowed for this model` };
  return refuseEffort(body, [[/^kimi-k3/, ["low", "high", "max"]]]);
}

/** Moonshot: models with names beginning with `kimi-`. */
export const moonshotWire: ChatWire = { ...plain, rules, refuse, usage, dressChunk };
