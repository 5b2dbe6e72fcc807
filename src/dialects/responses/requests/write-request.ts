import { type JsonObject, objectOf } from "../../../core/index.ts";
import {
  type Conversation,
  defined,
  effortFor,
  fieldsFor,
  type Tool,
  type TranslationTarget,
  wantsThoughts,
} from "../../conversation/index.ts";
import { flat, writeFormat, writeTool, writeTools } from "../../openai-requests.ts";
import { logprobsInclude } from "../fields.ts";
import { writeInput } from "./write-items.ts";

/** OpenAI refuses a lower limit. */
const OUTPUT_TOKENS_MIN = 16;

/** Writes a Responses body. */
export function writeResponsesRequest(conversation: Conversation, target: TranslationTarget): JsonObject {
  const { sampling, rest } = conversation;
  const own = rest.dialect === "responses";
  return {
    ...(own ? {} : foreignDefaults(conversation)),
    ...fieldsFor(rest, "responses"),
    ...defined({
      model: target.model,
      ...writeInput(conversation, target),
      ...writeTools(conversation, flat, own ? writeOwnTool : writeForeignTool),
      text: writeText(conversation, own),
      reasoning: writeReasoning(conversation, target, own),
      max_output_tokens: writeLimit(conversation.outputTokensMax, own),
      temperature: sampling.temperature,
      top_p: sampling.topP,
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

function writeOwnTool(tool: Tool): JsonObject {
  const written = writeTool(tool, flat);
  return tool.kind === "function" ? { ...written, ...tool.extras } : written;
}

/** A function without `strict` is strict here, unlike in other dialects. */
function writeForeignTool(tool: Tool): JsonObject {
  const written = writeTool(tool, flat);
  if (tool.kind !== "function") return written;
  return { ...written, parameters: tool.parameters ?? null, strict: tool.strict ?? false };
}

/** Members of a tool that the model does not know return unchanged. */
function ownMembers({ rest }: Conversation, field: string, own: boolean): JsonObject {
  return own ? (objectOf(rest.body[field]) ?? {}) : {};
}

function writeText(conversation: Conversation, own: boolean): JsonObject | undefined {
  const { format, verbosity } = conversation;
  const text = {
    ...ownMembers(conversation, "text", own),
    ...defined({ format: format === undefined ? undefined : writeFormat(format, flat), verbosity }),
  };
  return Object.keys(text).length === 0 ? undefined : text;
}

/** For a client that expects to see thoughts. One of chat cannot ask for more than an effort, and gets them too. */
function wantedSummary({ reasoning, rest }: Conversation, target: TranslationTarget): string | undefined {
  if (reasoning === undefined || target.summarizesThoughts !== true) return undefined;
  const asks = rest.dialect === "chat" ? reasoning.effort !== "none" : wantsThoughts(reasoning, rest.dialect);
  return asks ? "auto" : undefined;
}

function writeReasoning(conversation: Conversation, target: TranslationTarget, own: boolean): JsonObject | undefined {
  const effort = effortFor(conversation.reasoning, target);
  const summary = conversation.reasoning?.summary ?? wantedSummary(conversation, target);
  const reasoning = { ...ownMembers(conversation, "reasoning", own), ...defined({ effort, summary }) };
  return Object.keys(reasoning).length === 0 ? undefined : reasoning;
}
