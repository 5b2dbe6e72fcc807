import { asksForCompaction, efforts, type JsonObject } from "../../../core/index.ts";
import {
  checkToolCalls,
  type Conversation,
  conversationReader,
  invalid,
  member,
  optional,
  readCount,
  readFlag,
  readList,
  readObject,
  readOneOf,
  readText,
  readWord,
  type ReasoningOptions,
  type Turn,
} from "../../conversation/index.ts";
import { flat, readFormat } from "../../openai-requests.ts";
import { askForSummary } from "../compaction.ts";
import { logprobsInclude, responsesFields } from "../fields.ts";
import { ToolNames } from "../tool-names.ts";
import { readItems } from "./read-items.ts";
import { readToolChoice, readTools } from "./read-tools.ts";

const readConversation = conversationReader({
  dialect: "responses",
  support: responsesFields,
  toolChoice: readToolChoice,
  format: ["text.format", (value, at) => readFormat(value, at, flat)],
  sampling: ["temperature", "top_p"],
  verbosity: ["text.verbosity", readText],
  user: ["user", readText],
  own: ["input", "instructions", "parallel_tool_calls", "max_output_tokens", "reasoning"],
});

/** Reads a Responses body. Earlier rounds must be in it already, instead of a `previous_response_id`. */
export function readResponsesRequest(body: JsonObject): Conversation {
  const names = new ToolNames(body);
  const turns = readTurns(body, names);
  checkToolCalls(turns);
  member(body, "text", "", readObject);
  // The items of the earlier response are among the turns.
  const conversation = readConversation(
    { ...body, previous_response_id: undefined },
    {
      turns,
      tools: () => readTools(body, names),
      parallelToolCalls: () => member(body, "parallel_tool_calls", "", readFlag),
      outputTokensMax: () => member(body, "max_output_tokens", "", (value, at) => readCount(value, at, 1)),
      reasoning: () => optional(body["reasoning"], "reasoning", readReasoning),
      logprobs: () => readLogprobs(body),
    },
  );
  return asksForCompaction(body) ? askForSummary(conversation) : conversation;
}

function readTurns(body: JsonObject, names: ToolNames): Turn[] {
  const instructions = member(body, "instructions", "", readText);
  const at = "instructions";
  const turns: Turn[] =
    instructions === undefined ? [] : [{ role: "system", at, parts: [{ kind: "text", at, text: instructions }] }];
  if (member(body, "previous_response_id", "", readWord) !== undefined) {
    throw invalid("previous_response_id", "what it stands for is not kept");
  }
  turns.push(...readInput(body["input"], names));
  if (turns.length === (instructions === undefined ? 0 : 1)) throw invalid("input", "must not be empty");
  return turns;
}

function readInput(input: unknown, names: ToolNames): Turn[] {
  const at = "input";
  if (typeof input === "string") return [{ role: "user", at, parts: [{ kind: "text", at, text: input }] }];
  if (!Array.isArray(input)) throw invalid(at, "must be a string or an array");
  return readItems(input, at, names);
}

function readReasoning(value: unknown, at: string): ReasoningOptions | undefined {
  const options = readObject(value, at);
  const effort = member(options, "effort", at, (word, place) => readOneOf(word, place, efforts));
  const summary = member(options, "summary", at, readText) ?? member(options, "generate_summary", at, readText);
  return effort === undefined && summary === undefined ? undefined : { effort, summary };
}

/** Either of the two requests them. */
function readLogprobs(body: JsonObject): number | undefined {
  const top = member(body, "top_logprobs", "", (value, at) => readCount(value, at, 0)) ?? 0;
  const wanted = member(body, "include", "", readList)?.includes(logprobsInclude) === true;
  return wanted || top > 0 ? top : undefined;
}
