import { type JsonObject, objectOf } from "../../../core/index.ts";
import {
  type Conversation,
  defined,
  effortFor,
  type OutputFormat,
  refused,
  fieldsFor,
  type Tool,
  type ToolChoice,
  type TranslationTarget,
  wantsThoughts,
} from "../../conversation/index.ts";
import { logprobsInclude } from "../fields.ts";
import { writeInput } from "./write-items.ts";

/** OpenAI refuses a lower limit. */
const OUTPUT_TOKENS_MIN = 16;

/** Writes a Responses body. */
export function writeResponsesRequest(conversation: Conversation, target: TranslationTarget): JsonObject {
  const { sampling, toolChoice, rest } = conversation;
  const tools = conversation.tools.filter((tool) => tool.kind !== "function" || tool.reach !== "own");
  const own = rest.dialect === "responses";
  const sampled = target.refusesSampling === true ? {} : sampling;
  return {
    ...(own ? {} : foreignDefaults(conversation)),
    ...fieldsFor(rest, "responses"),
    ...defined({
      model: target.model,
      ...writeInput(conversation, target),
      tools: tools.length === 0 ? undefined : tools.map((tool) => writeTool(tool, own)),
      tool_choice: tools.length === 0 || toolChoice === undefined ? undefined : writeToolChoice(toolChoice),
      parallel_tool_calls: tools.length === 0 ? undefined : conversation.parallelToolCalls,
      text: writeText(conversation, own),
      reasoning: writeReasoning(conversation, target, own),
      max_output_tokens: writeLimit(conversation.outputTokensMax, own),
      temperature: sampled.temperature,
      top_p: sampled.topP,
      service_tier: conversation.serviceTier,
      user: conversation.user,
      stream: conversation.stream ? true : undefined,
    }),
  };
}

/**
 * Defaults in which this dialect differs: clients of other dialects do not expect responses to be stored, and need
 * encrypted thoughts.
 */
function foreignDefaults({ reasoning, logprobs }: Conversation): JsonObject {
  const thinks = reasoning !== undefined && reasoning.mode !== "off" && reasoning.effort !== "none";
  const include = [
    ...(thinks ? ["reasoning.encrypted_content"] : []),
    ...(logprobs === undefined ? [] : [logprobsInclude]),
  ];
  return defined({
    store: false,
    include: include.length === 0 ? undefined : include,
    top_logprobs: logprobs === 0 ? undefined : logprobs,
  });
}

/** A limit below the minimum is raised to it. */
function writeLimit(limit: number | undefined, own: boolean): number | undefined {
  return limit === undefined || own ? limit : Math.max(limit, OUTPUT_TOKENS_MIN);
}

/** A function without `strict` is strict here, unlike in other dialects. */
function writeTool(tool: Tool, own: boolean): JsonObject {
  switch (tool.kind) {
    case "function": {
      const { name, description, parameters, strict, extras } = tool;
      const written = defined({ type: "function", name, description, parameters, strict });
      return own ? { ...written, ...extras } : { ...written, parameters: parameters ?? null, strict: strict ?? false };
    }
    case "custom": {
      const { name, description, format } = tool;
      return defined({ type: "custom", name, description, format });
    }
    case "native":
      if (tool.dialect === "responses") return tool.value;
      throw refused(tool.at, "This tool");
  }
}

function writeToolChoice(choice: ToolChoice): unknown {
  switch (choice.mode) {
    case "tool":
      return named(choice);
    case "native":
      if (choice.dialect === "responses") return choice.value;
      throw refused(choice.at);
    default:
      if (choice.allowed === undefined) return choice.mode;
      return { type: "allowed_tools", mode: choice.mode, tools: choice.allowed.map(named) };
  }
}

function named({ name, custom }: { name: string; custom: boolean }): JsonObject {
  return { type: custom ? "custom" : "function", name };
}

/** Members of a tool that the model does not know return unchanged. */
function ownMembers({ rest }: Conversation, field: string, own: boolean): JsonObject {
  return own ? (objectOf(rest.body[field]) ?? {}) : {};
}

function writeText(conversation: Conversation, own: boolean): JsonObject | undefined {
  const { format, verbosity } = conversation;
  const text = {
    ...ownMembers(conversation, "text", own),
    ...defined({ format: format === undefined ? undefined : writeFormat(format), verbosity }),
  };
  return Object.keys(text).length === 0 ? undefined : text;
}

function writeFormat(format: OutputFormat): JsonObject {
  switch (format.kind) {
    case "text":
      return { type: "text" };
    case "json":
      return { type: "json_object" };
    case "schema": {
      const { name = "answer", description, schema, strict } = format;
      return defined({ type: "json_schema", name, description, schema, strict });
    }
  }
}

/** For a client that expects to see thoughts. One of chat cannot ask for more than an effort, and gets them too. */
function wantedSummary({ reasoning, rest }: Conversation, target: TranslationTarget): string | undefined {
  if (reasoning === undefined || target.summarizesThoughts !== true) return undefined;
  const asks = rest.dialect === "chat" ? reasoning.effort !== "none" : wantsThoughts(reasoning, rest.dialect);
  return asks ? "auto" : undefined;
}

function writeReasoning(conversation: Conversation, target: TranslationTarget, own: boolean): JsonObject | undefined {
  const effort = effortFor(conversation.reasoning, target.efforts);
  const summary = conversation.reasoning?.summary ?? wantedSummary(conversation, target);
  const reasoning = { ...ownMembers(conversation, "reasoning", own), ...defined({ effort, summary }) };
  return Object.keys(reasoning).length === 0 ? undefined : reasoning;
}
