/**
 * Calls of one session prefer one target and one key, where the provider has cached their beginning. All nodes agree about it
 * without any state, since it follows from the session's name and those of the targets (`routing/prefer.ts`).
 */
import { type JsonObject, objectOf, sessionOf } from "../core/index.ts";

/** Shorter inputs are not cached by providers: 1,024 tokens of four bytes. */
const CACHED_BYTES_MIN = 4_096;

/** Of a first message; its rest hardly ever distinguishes two sessions. */
const COMPARED_CHARACTERS_MAX = 4_096;

/** The parts of a call that name its session. */
interface SessionSource {
  headers: Headers;
  /** A form has no input that is cached. */
  received: { kind: "json"; bytes: Uint8Array; body: JsonObject } | { kind: "form" };
}

/**
 * The key of a call's session, which its other calls have too: the name in its header, its `prompt_cache_key`, or else its system prompt and its
 * first message. Undefined for an input that is too short to be cached, unless its answer may take several calls.
 */
export function affinityOf({ headers, received }: SessionSource): string | undefined {
  if (received.kind === "form") return undefined;
  const { body, bytes } = received;
  if (bytes.length < CACHED_BYTES_MIN && !isContinued(body)) return undefined;
  const named = sessionOf(headers) ?? body["prompt_cache_key"];
  return typeof named === "string" && named !== "" ? named : beginningOf(body);
}

/** Of Google's answers; a longer one takes several calls. */
const ANSWER_TOKENS_MAX = 32_768;

/**
 * Whether an answer of Google's is continued by further calls, or may be: each repeats the first one's body with a token, which
 * only the key that it was made with can read.
 */
function isContinued(body: JsonObject): boolean {
  if (body["contents"] === undefined) return false;
  const { maxOutputTokens, max_output_tokens: inSnake } =
    objectOf(body["generationConfig"] ?? body["generation_config"]) ?? {};
  const token = body["continuationToken"] ?? body["continuation_token"];
  return typeof token === "string" || Number(maxOutputTokens ?? inSnake) > ANSWER_TOKENS_MAX;
}

function beginningOf({
  system,
  instructions,
  systemInstruction,
  messages,
  input,
  contents,
}: JsonObject): string | undefined {
  const items = messages ?? input ?? contents;
  const list: readonly unknown[] = Array.isArray(items) ? items : [items];
  const first = list.findIndex((item) => !isInstruction(item));
  const beginning = [
    system,
    instructions,
    systemInstruction,
    ...list.slice(0, first === -1 ? list.length : first + 1),
  ].filter((part) => part !== undefined);
  if (beginning.length === 0) return undefined;
  return beginning.map((part) => JSON.stringify(part).slice(0, COMPARED_CHARACTERS_MAX)).join("\n");
}

function isInstruction(item: unknown): boolean {
  const role = objectOf(item)?.["role"];
  return role === "system" || role === "developer";
}
