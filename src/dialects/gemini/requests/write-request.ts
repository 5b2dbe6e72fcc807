import { budgetOfEffort, type Effort, type JsonObject } from "../../../core/index.ts";
import {
  type Conversation,
  defined,
  fieldsFor,
  refused,
  type ToolChoice,
  type TranslationTarget,
  wantsThoughts,
} from "../../conversation/index.ts";
import { PICTURES } from "./own-tools.ts";
import { writeTurns } from "./write-turns.ts";

const CONFIG = "generationConfig";

/** Writes the body of a generateContent. `model` and `stream` are for the path. */
export function writeGeminiRequest(conversation: Conversation, target: TranslationTarget): JsonObject {
  const { top, config, toolConfig } = nestedFields(fieldsFor(conversation.rest, "gemini"));
  const { systemInstruction, contents } = writeTurns(conversation, target);
  const choice = writeToolChoice(conversation.toolChoice);
  return {
    ...top,
    ...defined({
      model: target.model,
      systemInstruction,
      contents,
      tools: writeTools(conversation),
      toolConfig: nonEmpty({
        ...toolConfig,
        functionCallingConfig: conversation.tools.some(({ kind }) => kind === "function") ? choice : undefined,
      }),
      [CONFIG]: nonEmpty({ ...config, ...writeConfig(conversation, target) }),
      serviceTier: conversation.serviceTier === undefined ? undefined : tiers[conversation.serviceTier],
      stream: conversation.stream ? true : undefined,
    }),
  };
}

/** Fields by their paths become members of the two inner objects again. */
function nestedFields(fields: Record<string, unknown>) {
  const top: Record<string, unknown> = {};
  const inner: Record<string, Record<string, unknown>> = { [CONFIG]: {}, toolConfig: {} };
  for (const [path, value] of Object.entries(fields)) {
    const dot = path.indexOf(".");
    const object = inner[path.slice(0, dot)];
    if (object === undefined) top[path] = value;
    else object[path.slice(dot + 1)] = value;
  }
  return { top, config: inner[CONFIG], toolConfig: inner["toolConfig"] };
}

function nonEmpty(members: JsonObject): JsonObject | undefined {
  const written = defined(members);
  return Object.keys(written).length === 0 ? undefined : written;
}

const tiers: Readonly<Record<string, string>> = { default: "standard", flex: "flex", priority: "priority" };

function writeConfig(conversation: Conversation, target: TranslationTarget): JsonObject {
  const { sampling, format, stop, outputTokensMax, logprobs } = conversation;
  if (logprobs !== undefined) throw refused("logprobs");
  return {
    maxOutputTokens: outputTokensMax,
    temperature: sampling.temperature,
    topP: sampling.topP,
    topK: sampling.topK,
    presencePenalty: sampling.presencePenalty,
    frequencyPenalty: sampling.frequencyPenalty,
    seed: sampling.seed,
    stopSequences: stop.length === 0 ? undefined : stop,
    responseMimeType: format === undefined || format.kind === "text" ? undefined : "application/json",
    responseJsonSchema: format?.kind === "schema" ? format.schema : undefined,
    thinkingConfig: nonEmpty(writeThinking(conversation, target)),
    ...(conversation.tools.some((tool) => tool.kind === "native" && tool.type === PICTURES) && {
      responseModalities: ["TEXT", PICTURES],
    }),
  };
}

/** The levels that all models have; in between, the model decides. */
const LOW_TOKENS_MAX = budgetOfEffort.low;
const MEDIUM_TOKENS_MAX = budgetOfEffort.medium;

/** Of the models that count the tokens of their thoughts. */
const BUDGET_TOKENS_MAX = 24_576;

function writeThinking({ reasoning, rest }: Conversation, { thinkingBudgets }: TranslationTarget): JsonObject {
  if (reasoning === undefined) return {};
  const { mode, effort, budgetTokens } = reasoning;
  const isOff = mode === "off" || effort === "none";
  const includeThoughts = wantsThoughts(reasoning, rest.dialect) ? true : undefined;
  const tokens = isOff ? 0 : (budgetTokens ?? tokensOf(effort));
  if (thinkingBudgets === true) {
    const budget = tokens === undefined && mode === "adaptive" ? -1 : tokens;
    return { includeThoughts, thinkingBudget: budget === undefined ? undefined : Math.min(budget, BUDGET_TOKENS_MAX) };
  }
  const isEither = tokens === undefined || (tokens > LOW_TOKENS_MAX && tokens <= MEDIUM_TOKENS_MAX);
  if (rest.dialect === "gemini" && effort !== undefined)
    return { includeThoughts, thinkingLevel: effort.toUpperCase() };
  return { includeThoughts, thinkingLevel: isEither ? undefined : tokens <= LOW_TOKENS_MAX ? "LOW" : "HIGH" };
}

function tokensOf(effort: Effort | undefined): number | undefined {
  return effort === undefined || effort === "none" ? undefined : budgetOfEffort[effort];
}

function writeTools({ tools, rest }: Conversation): JsonObject[] | undefined {
  const functions: JsonObject[] = [];
  const hosted: JsonObject[] = [];
  for (const tool of tools) {
    switch (tool.kind) {
      case "function":
        if (tool.reach === "own") break;
        functions.push(
          defined({
            name: tool.name,
            description: tool.description,
            parametersJsonSchema: tool.parameters,
            ...(rest.dialect === "gemini" && tool.extras),
          }),
        );
        break;
      case "custom":
        throw refused(tool.at, "A tool that takes free text");
      case "native":
        if (tool.dialect !== "gemini") throw refused(tool.at, "This tool");
        if (tool.type !== PICTURES) hosted.push(tool.value);
    }
  }
  const written = functions.length === 0 ? hosted : [{ functionDeclarations: functions }, ...hosted];
  return written.length === 0 ? undefined : written;
}

function writeToolChoice(choice: ToolChoice | undefined): JsonObject | undefined {
  switch (choice?.mode) {
    case undefined:
      return undefined;
    case "auto":
      return choice.allowed === undefined
        ? { mode: "AUTO" }
        : { mode: "VALIDATED", allowedFunctionNames: choice.allowed.map(({ name }) => name) };
    case "none":
      return { mode: "NONE" };
    case "required":
      return defined({ mode: "ANY", allowedFunctionNames: choice.allowed?.map(({ name }) => name) });
    case "tool":
      return { mode: "ANY", allowedFunctionNames: [choice.name] };
    case "native":
      throw refused(choice.at);
  }
}
