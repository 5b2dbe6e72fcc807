import type { TokenCounts, Turn } from "../shared/answer.ts";
import { textDeltas } from "../shared/chat/parts.ts";
import { readChatPrompt } from "../shared/chat/read-prompt.ts";
import type { ChatTalk, ChatWire, ChunkPosition } from "../shared/chat/wire.ts";
import type { Problem } from "../shared/check.ts";
import { asArray, asObject, isGiven, type JsonObject } from "../shared/json.ts";
import { refuseLateSystem } from "../shared/limits.ts";
import type { Prompt } from "../shared/prompt.ts";
import { textPieces } from "../shared/words.ts";
import { numberedErrors } from "./errors.ts";
import { plainWire } from "./plain.ts";

const source = { title: "Example Domain", url: "https://example.com/", date: "2026-01-01", snippet: "An example." };
const sources = { citations: [source.url], search_results: [source] };

/** US dollars, as floats: the fee of the search itself is on top of the tokens. */
const requestDollars = 0.005;
const tokenDollars = 0.000001;

function refuse(body: JsonObject): Problem | null {
  for (const field of ["tools", "tool_choice", "logit_bias"]) {
    if (isGiven(body[field])) {
      return { kind: "unsupported", field, message: "is not supported by this model" };
    }
  }
  const order =
    "After the (optional) system message(s), user or tool message(s) should alternate with assistant message(s).";
  return refuseLateSystem(body, () => order);
}

/** Neither `n` nor `stop` is known. */
function readPrompt(body: JsonObject): Prompt {
  return { ...readChatPrompt(body), choices: 1, stop: [] };
}

/** Reasoning is counted beside the completion, not in it. */
function usage(tokens: TokenCounts): JsonObject {
  const inputCost = tokens.prompt * tokenDollars;
  const outputCost = (tokens.answer + tokens.reasoning) * tokenDollars;
  return {
    prompt_tokens: tokens.prompt,
    completion_tokens: tokens.answer,
    total_tokens: tokens.prompt + tokens.answer,
    search_context_size: "low",
    num_search_queries: 1,
    ...(tokens.reasoning === 0 ? {} : { reasoning_tokens: tokens.reasoning }),
    cost: {
      input_tokens_cost: inputCost,
      output_tokens_cost: outputCost,
      request_cost: requestDollars,
      total_cost: inputCost + outputCost + requestDollars,
    },
  };
}

/** Reasoning is part of the content. */
function content(turn: Turn): string {
  return turn.reasoning === "" ? turn.text : `<think>${turn.reasoning}</think>\n\n${turn.text}`;
}

function* deltas(turn: Turn): Generator<JsonObject> {
  yield { role: "assistant", content: "" };
  yield* textDeltas(content(turn), (piece) => ({ content: piece }));
}

/** Each choice of a chunk holds the message so far beside its delta. */
function dressChunk(chunk: JsonObject, talk: ChatTalk, position: ChunkPosition): JsonObject {
  const choices = asArray(chunk["choices"]).map((choice) => {
    const message = { role: "assistant", content: textSoFar(talk, position) };
    return { ...asObject(choice), message };
  });
  return { ...chunk, ...sources, choices };
}

/** The first chunk holds no text, each further one a piece of it. */
function textSoFar(talk: ChatTalk, position: ChunkPosition): string {
  const turn = talk.turns[0];
  const text = turn === undefined ? "" : content(turn);
  return position.finishing ? text : textPieces(text).slice(0, position.index).join("");
}

/** Perplexity: models with names beginning with `sonar`; usage so far in every chunk, requested or not. */
export const perplexityWire: ChatWire = {
  ...plainWire("reasoning"),
  errors: numberedErrors,
  usagePlace: "every-chunk",
  usageAlways: true,
  refuse,
  readPrompt,
  usage,
  message: (turn) => ({ role: "assistant", content: content(turn) }),
  deltas,
  dressCompletion: (completion) => ({ ...completion, ...sources }),
  dressChunk,
};
