import type { Conversation, Tool } from "../conversation.ts";

/**
 * The conversation for an upstream that does not act on the parts of a history which add, remove and load tools: it has the tools
 * that are in effect at its end.
 */
export function withToolsInEffect(conversation: Conversation): Conversation {
  const { tools } = conversation;
  if (tools.every((tool) => reachOf(tool) === undefined)) return conversation;
  return { ...conversation, tools: tools.filter((tool) => reachOf(tool) !== "own").map(forAll) };
}

function reachOf(tool: Tool) {
  return tool.kind === "native" ? undefined : tool.reach;
}

function forAll(tool: Tool): Tool {
  return tool.kind === "native" || tool.reach === undefined ? tool : { ...tool, reach: undefined };
}
