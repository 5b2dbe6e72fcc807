import { GatewayError } from "../../../core/index.ts";
import type { Conversation, NativeTool, Tool, ToolChoice } from "../conversation.ts";
import type { DialectTranslation, OwnToolContext } from "../translation.ts";

/** A conversation without the tools that its upstream can't run, and the types of those. */
export interface WithoutHostedTools {
  conversation: Conversation;
  left: readonly string[];
}

/** The conversation with the upstream's counterparts of tools that other providers run. */
export function withOwnTools(
  conversation: Conversation,
  upstream: Pick<DialectTranslation, "dialect" | "asOwnTool">,
  model: Omit<OwnToolContext, "hasFunctions">,
): Conversation {
  const { tools } = conversation;
  const isForeign = (tool: Tool): tool is NativeTool =>
    tool.kind === "native" && tool.hosted && tool.dialect !== upstream.dialect;
  if (upstream.asOwnTool === undefined || !tools.some(isForeign)) return conversation;
  const context = { ...model, hasFunctions: tools.some(({ kind }) => kind !== "native") };
  return {
    ...conversation,
    tools: tools.map((tool) => (isForeign(tool) ? (upstream.asOwnTool?.(tool, context) ?? tool) : tool)),
  };
}

/**
 * Leaves out the hosted tools that the upstream does not have and the model merely may use: agents offer one with every
 * request. Throws 422 if a tool would have to be used and none is left that may be.
 */
export function leaveOutHostedTools(
  conversation: Conversation,
  isAvailable: (tool: NativeTool) => boolean,
): WithoutHostedTools {
  const { tools, toolChoice } = conversation;
  const missing = tools.filter((tool): tool is NativeTool => isMissing(tool, isAvailable));
  const [first] = missing;
  if (first === undefined) return { conversation, left: [] };
  const rest = tools.filter((tool) => !isMissing(tool, isAvailable));
  const left = [...new Set(missing.map(nameOf))];
  const isDemanded = toolChoice?.mode === "native" || (toolChoice?.mode === "required" && rest.length === 0);
  if (isDemanded) throw demanded(toolChoice, left);
  return { conversation: { ...conversation, tools: rest }, left };
}

function isMissing(tool: Tool, isAvailable: (tool: NativeTool) => boolean): boolean {
  return tool.kind === "native" && tool.hosted && !isAvailable(tool);
}

function nameOf({ dialect, type, value }: NativeTool): string {
  // Google's have no type, but are members of their own.
  if (dialect === "gemini") return /^[A-Za-z]{1,40}$/.test(type) ? type : "unknown";
  return typeof value["type"] === "string" ? value["type"] : "unknown";
}

function demanded({ at }: ToolChoice, left: readonly string[]): GatewayError {
  const message = `${at}: this model's provider has no ${left.join(", ")}, which it would have to run itself. Let the model choose (auto), offer a function, or use a model of a provider that has it. An operator can let the gateway run some tools (tools.hosted).`;
  return new GatewayError("validation_failed", message, { param: at });
}
