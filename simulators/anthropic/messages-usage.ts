import { countPrompt, type TokenCounts } from "../shared/answer.ts";
import { asObject, isGiven, type JsonObject } from "../shared/json.ts";
import { placedBlocks, type PlacedBlock, promptMessages } from "./messages-prompt.ts";

/** Shorter prefixes are silently not cached. */
const prefixTokensMin = 1_024;

/** Input tokens in disjoint buckets. */
interface InputCounts {
  readonly fresh: number;
  readonly read: number;
  readonly written5m: number;
  readonly written1h: number;
}

interface Breakpoint {
  readonly tokens: number;
  readonly hour: boolean;
  /** An earlier request has already written it: the assistant answered after it. */
  readonly warm: boolean;
}

/**
 * Splits the prompt at its cache breakpoints. Without a clock or a memory, blocks before an assistant's message count
 * as read, because an earlier request must have written them, and later ones as written now.
 */
function splitInput(body: JsonObject, promptTokens: number): InputCounts {
  const breakpoints = findBreakpoints(body).filter(({ tokens }) => tokens >= prefixTokensMin);
  const read = Math.max(0, ...breakpoints.filter(({ warm }) => warm).map(({ tokens }) => tokens));
  let reached = read;
  const written = { hour: 0, minutes: 0 };
  for (const { tokens, hour, warm } of breakpoints) {
    if (warm || tokens <= reached) continue;
    written[hour ? "hour" : "minutes"] += tokens - reached;
    reached = tokens;
  }
  return { fresh: promptTokens - reached, read, written5m: written.minutes, written1h: written.hour };
}

function findBreakpoints(body: JsonObject): Breakpoint[] {
  const placed = placedBlocks(body);
  const lastAnswer = placed.findLast(({ role }) => role === "assistant")?.message ?? -1;
  const marks = placed.map(({ block }, index) => {
    const automatic = index === placed.length - 1 && isGiven(body["cache_control"]);
    return { index, control: block["cache_control"] ?? (automatic ? body["cache_control"] : null) };
  });
  return marks
    .filter(({ control }) => isGiven(control))
    .map(({ index, control }) => ({
      tokens: prefixTokens(placed.slice(0, index + 1)),
      hour: asObject(control)["ttl"] === "1h",
      warm: (placed[index]?.message ?? 0) < lastAnswer,
    }));
}

function prefixTokens(placed: readonly PlacedBlock[]): number {
  return countPrompt(promptMessages(placed)).prompt;
}

/** The input side of the usage, also reported at the end of a stream. */
function inputUsage({ fresh, read, written5m, written1h }: InputCounts): JsonObject {
  return {
    input_tokens: fresh,
    cache_creation_input_tokens: written5m + written1h,
    cache_read_input_tokens: read,
  };
}

/** Usage of a whole message; thinking is part of the output. A stream begins with hardly any output. */
export function messageUsage(body: JsonObject, tokens: TokenCounts, started = false): JsonObject {
  const counts = splitInput(body, tokens.prompt);
  return {
    ...inputUsage(counts),
    cache_creation: { ephemeral_5m_input_tokens: counts.written5m, ephemeral_1h_input_tokens: counts.written1h },
    output_tokens: started ? 1 : tokens.answer + tokens.reasoning,
    output_tokens_details: { thinking_tokens: started ? 0 : tokens.reasoning },
    server_tool_use: null,
    service_tier: "standard",
    inference_geo: null,
    speed: "standard",
  };
}

/** Usage at the end of a stream: totals, not increments. */
export function deltaUsage(body: JsonObject, tokens: TokenCounts): JsonObject {
  return {
    ...inputUsage(splitInput(body, tokens.prompt)),
    output_tokens: tokens.answer + tokens.reasoning,
    output_tokens_details: { thinking_tokens: tokens.reasoning },
    server_tool_use: null,
  };
}
