import { efforts, type JsonObject } from "../../../core/index.ts";
import {
  checkToolCalls,
  type Conversation,
  invalid,
  member,
  optional,
  type OutputFormat,
  readCount,
  readFlag,
  readList,
  readNumber,
  readObject,
  readOneOf,
  readText,
  readWord,
  type ReasoningOptions,
  type Turn,
} from "../../conversation/index.ts";
import { logprobsInclude, responsesFields } from "../fields.ts";
import { ToolNames } from "../tool-names.ts";
import { readItems } from "./read-items.ts";
import { readToolChoice, readTools } from "./read-tools.ts";

/** Fields with a member in the model; the others are carried by name. */
const known: ReadonlySet<string> = new Set([
  "model",
  "input",
  "instructions",
  "stream",
  "max_output_tokens",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "text",
  "reasoning",
  "temperature",
  "top_p",
  "service_tier",
  "user",
]);

/** Reads a Responses body. Earlier rounds must be in it already, instead of a `previous_response_id`. */
export function readResponsesRequest(body: JsonObject): Conversation {
  const names = new ToolNames(body["tools"]);
  const turns = readTurns(body, names);
  checkToolCalls(turns);
  const text = optional(body["text"], "text", readObject) ?? {};
  return {
    model: readWord(body["model"], "model"),
    turns,
    tools: optional(body["tools"], "tools", (value, at) => readTools(value, at, names)) ?? [],
    toolChoice: optional(body["tool_choice"], "tool_choice", readToolChoice),
    parallelToolCalls: member(body, "parallel_tool_calls", "", readFlag),
    format: member(text, "format", "text", readFormat),
    sampling: {
      temperature: member(body, "temperature", "", readNumber),
      topP: member(body, "top_p", "", readNumber),
    },
    stop: [],
    outputTokensMax: member(body, "max_output_tokens", "", (value, at) => readCount(value, at, 1)),
    reasoning: optional(body["reasoning"], "reasoning", readReasoning),
    logprobs: readLogprobs(body),
    serviceTier: member(body, "service_tier", "", readText),
    verbosity: member(text, "verbosity", "text", readText),
    user: member(body, "user", "", readText),
    cache: undefined,
    stream: member(body, "stream", "", readFlag) ?? false,
    // The items of the earlier response are among the turns.
    rest: { dialect: "responses", table: responsesFields, body: { ...body, previous_response_id: undefined }, known },
  };
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
  const wish = readObject(value, at);
  const effort = member(wish, "effort", at, (word, place) => readOneOf(word, place, efforts));
  const summary = member(wish, "summary", at, readText) ?? member(wish, "generate_summary", at, readText);
  return effort === undefined && summary === undefined ? undefined : { effort, summary };
}

/** Either of the two requests them. */
function readLogprobs(body: JsonObject): number | undefined {
  const top = member(body, "top_logprobs", "", (value, at) => readCount(value, at, 0)) ?? 0;
  const wanted = member(body, "include", "", readList)?.includes(logprobsInclude) === true;
  return wanted || top > 0 ? top : undefined;
}

function readFormat(value: unknown, at: string): OutputFormat {
  const format = readObject(value, at);
  switch (readOneOf(format["type"], `${at}.type`, ["text", "json_object", "json_schema"])) {
    case "text":
      return { kind: "text", at };
    case "json_object":
      return { kind: "json", at };
    case "json_schema":
      return {
        kind: "schema",
        at,
        name: member(format, "name", at, readWord),
        description: member(format, "description", at, readText),
        schema: readObject(format["schema"], `${at}.schema`),
        strict: member(format, "strict", at, readFlag),
      };
  }
}
