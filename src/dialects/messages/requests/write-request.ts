import type { JsonObject } from "../../../core/index.ts";
import {
  type Conversation,
  defined,
  fitSchemas,
  type FunctionTool,
  invalid,
  joinTurns,
  promptForFormat,
  refused,
  fieldsFor,
  type Sampling,
  type Tool,
  type ToolChoice,
  type TranslationTarget,
  type Turn,
  withoutPrefill,
} from "../../conversation/index.ts";
import { planThinking, type ThinkingPlan } from "./plan-thinking.ts";
import { cacheControl } from "./write-blocks.ts";
import { writeTurns } from "./write-turns.ts";

/** For a model with an unknown limit. */
const OUTPUT_TOKENS_DEFAULT = 4_096;

/** Writes a Messages body. */
export function writeMessagesRequest(asked: Conversation, target: TranslationTarget): JsonObject {
  const own = asked.rest.dialect === "messages";
  const formatted = withoutPrefill(freeChoice(fitSchemas(withFormat(asked, target), target), target), target);
  const conversation = own ? formatted : { ...formatted, turns: joinTurns(formatted.turns) };
  const others = fieldsFor(conversation.rest, "messages");
  const maxTokens = conversation.outputTokensMax ?? target.outputTokensMax ?? OUTPUT_TOKENS_DEFAULT;
  const { system, messages } = writeTurns(conversation, target);
  const plan = planThinking(conversation, target, maxTokens);
  return {
    ...others,
    ...defined({
      model: target.model,
      max_tokens: maxTokens,
      system,
      messages,
      ...writeTools(conversation),
      thinking: plan.thinking,
      output_config: writeOutputConfig(conversation, plan),
      stop_sequences: writeStop(conversation.stop),
      ...writeSampling(conversation, target, plan),
      cache_control: cacheControl(conversation.cache),
      metadata: conversation.user === undefined ? undefined : { user_id: conversation.user },
      service_tier: writeServiceTier(conversation.serviceTier),
      stream: conversation.stream ? true : undefined,
    }),
  };
}

/** JSON without a schema is no option of this dialect, and older models have none at all. */
function withFormat(conversation: Conversation, { formats, changed }: TranslationTarget): Conversation {
  const { format } = conversation;
  if (format === undefined || format.kind === "text" || (format.kind === "schema" && formats !== "none"))
    return conversation;
  changed?.("formats");
  return promptForFormat(conversation, format);
}

/** A tool that must be called becomes one that the prompt asks for, if the model refuses to be forced. */
function freeChoice(conversation: Conversation, { freeToolChoice, changed }: TranslationTarget): Conversation {
  const { toolChoice, turns } = conversation;
  if (freeToolChoice !== true || (toolChoice?.mode !== "required" && toolChoice?.mode !== "tool")) return conversation;
  changed?.("forced-tools");
  const { at } = toolChoice;
  const text = toolChoice.mode === "tool" ? `Call the tool ${toolChoice.name} now.` : "Call one of the tools now.";
  const allowed = toolChoice.mode === "required" ? toolChoice.allowed : undefined;
  const prompt: Turn = { role: "system", at, parts: [{ kind: "text", at, text }] };
  return { ...conversation, toolChoice: { mode: "auto", at, allowed }, turns: [...turns, prompt] };
}

function writeTools({ tools, toolChoice, parallelToolCalls, rest }: Conversation): JsonObject {
  const own = rest.dialect === "messages";
  if (tools.length === 0) return {};
  const allowed = toolChoice !== undefined && "allowed" in toolChoice ? toolChoice.allowed : undefined;
  const names = allowed === undefined ? undefined : new Set(allowed.map(({ name }) => name));
  const given = names === undefined ? tools : tools.filter((tool) => tool.kind !== "native" && names.has(tool.name));
  const declared = own ? given.filter((tool) => tool.kind !== "function" || tool.reach !== "others") : given;
  return {
    tools: declared.length === 0 ? undefined : declared.map((tool) => writeTool(tool, own)),
    tool_choice: writeToolChoice(toolChoice, parallelToolCalls),
  };
}

/** `own`: it came in this dialect, and members that only this dialect knows return. */
function writeTool(tool: Tool, own: boolean): JsonObject {
  switch (tool.kind) {
    case "function":
      return own ? { ...writeFunction(tool), ...tool.extras } : writeFunction(tool);
    case "custom":
      throw refused(tool.at, "A tool that takes free text");
    case "native":
      if (tool.dialect === "messages") return tool.value;
      throw refused(tool.at, "This tool");
  }
}

function writeFunction({ name, description, parameters, strict, cache }: FunctionTool): JsonObject {
  return defined({
    name,
    description,
    input_schema: parameters?.["type"] === "object" ? parameters : { type: "object", properties: {}, ...parameters },
    strict,
    cache_control: cacheControl(cache),
  });
}

/** The choice contains whether calls may be parallel. */
function writeToolChoice(choice: ToolChoice | undefined, parallel: boolean | undefined): JsonObject | undefined {
  if (choice === undefined && parallel === undefined) return undefined;
  const flag = parallel === undefined ? {} : { disable_parallel_tool_use: !parallel };
  switch (choice?.mode) {
    case undefined:
    case "auto":
      return { type: "auto", ...flag };
    case "required":
      return { type: "any", ...flag };
    case "none":
      return { type: "none" };
    case "tool":
      if (choice.custom) throw refused(choice.at, "A tool that takes free text");
      return { type: "tool", name: choice.name, ...flag };
    case "native":
      throw refused(choice.at);
  }
}

function writeOutputConfig({ format }: Conversation, { effort }: ThinkingPlan): JsonObject | undefined {
  const schema = format?.kind === "schema" ? { type: "json_schema", schema: format.schema } : undefined;
  return effort === undefined && schema === undefined ? undefined : defined({ effort, format: schema });
}

function writeStop(stop: readonly string[]): string[] | undefined {
  const sequences = stop.filter((one) => one !== "");
  if (sequences.some((one) => one.trim() === "")) {
    throw invalid("stop", "must hold more than white space for this model's provider");
  }
  return sequences.length === 0 ? undefined : sequences;
}

/** Models that think accept no sampling parameters, and the others no temperature over 1. */
function writeSampling(
  { sampling, rest }: Conversation,
  { changed }: TranslationTarget,
  plan: ThinkingPlan,
): JsonObject {
  const { temperature, topP, topK }: Sampling = sampling;
  if (rest.dialect === "messages") return { temperature, top_p: topP, top_k: topK };
  if (plan.thinks) {
    if ([temperature ?? 1, topP ?? 1, topK].some((value) => value !== undefined && value !== 1)) changed?.("sampling");
    return {};
  }
  return { temperature: temperature === undefined ? undefined : Math.min(temperature, 1), top_p: topP, top_k: topK };
}

function writeServiceTier(tier: string | undefined): string | undefined {
  if (tier === undefined) return undefined;
  return tier === "auto" || tier === "priority" ? "auto" : "standard_only";
}
