import { type JsonObject, listOf, objectOf } from "../../../core/index.ts";
import {
  type FunctionTool,
  member,
  optional,
  type Part,
  readObject,
  readText,
  type Tool,
} from "../../conversation/index.ts";

type NativePart = Extract<Part, { kind: "native" }>;

/**
 * Blocks about the tools and the history that only an upstream of this dialect acts on; others get their content as text.
 * Undefined for any other block.
 */
export function readNotice(block: JsonObject, at: string): NativePart | undefined {
  const native = { kind: "native", at, dialect: "messages", value: block } as const;
  switch (block["type"]) {
    case "tool_reference":
      return { ...native, text: `The tool ${nameOf(block["tool_name"])} can be used.` };
    case "tool_addition":
      return { ...native, text: `The tool ${changed(block)} can be used from now on.` };
    case "tool_removal":
      return { ...native, text: `The tool ${changed(block)} can no longer be used.` };
    case "compaction": {
      // Without a summary, the compaction has failed and the history still stands.
      const { content } = block;
      if (typeof content !== "string" || content === "") return { ...native, text: "" };
      return { ...native, text: `Summary of the conversation so far:\n\n${content}`, replaces: true };
    }
    default:
      return undefined;
  }
}

/** A block that adds a tool to a conversation or removes one. */
interface ToolChange {
  name: string;
  removes: boolean;
  /** The tool, if the block defines it. */
  tool: FunctionTool | undefined;
}

/**
 * The tools of a conversation: those of its `tools`, and for upstreams of other dialects, which do not act on the blocks
 * that add and remove tools, those in effect at its end.
 */
export function withToolChanges(
  tools: readonly Tool[],
  messages: readonly unknown[],
  readTool: (tool: JsonObject, at: string) => Tool,
): Tool[] {
  const last = new Map<string, ToolChange>();
  for (const { block, at } of messages.flatMap(changesIn)) {
    const change = readChange(block, at, readTool);
    last.set(change.name, { ...change, tool: change.tool ?? last.get(change.name)?.tool });
  }
  const declared = tools.map((tool): Tool => {
    const change = tool.kind === "function" ? last.get(tool.name) : undefined;
    return tool.kind === "function" && (change?.removes === true || change?.tool !== undefined)
      ? { ...tool, reach: "own" }
      : tool;
  });
  const defined = [...last.values()].filter(({ removes }) => !removes);
  return [...declared, ...defined.flatMap(({ tool }): Tool[] => (tool ? [{ ...tool, reach: "others" }] : []))];
}

function readChange(block: JsonObject, at: string, readTool: (tool: JsonObject, at: string) => Tool): ToolChange {
  const path = `${at}.tool`;
  const given = readObject(block["tool"], path);
  const removes = block["type"] === "tool_removal";
  const definition = optional(given["definition"], `${path}.definition`, readObject);
  const read = definition === undefined ? undefined : readTool(definition, `${path}.definition`);
  const tool = read?.kind === "function" ? read : undefined;
  return { name: tool?.name ?? member(given, "name", path, readText) ?? "", removes, tool };
}

/** A compaction repeats the changes of what it has replaced. */
function changesIn(message: unknown, index: number): { block: JsonObject; at: string }[] {
  return listOf(objectOf(message)?.["content"]).flatMap((value, place) => {
    const block = objectOf(value) ?? {};
    const at = `messages.${index}.content.${place}`;
    const { type } = block;
    if (type === "tool_addition" || type === "tool_removal") return [{ block, at }];
    if (type !== "compaction") return [];
    return listOf(block["tool_changes"]).map((one, number) => ({
      block: readObject(one, `${at}.tool_changes.${number}`),
      at: `${at}.tool_changes.${number}`,
    }));
  });
}

function changed(block: JsonObject): string {
  const tool = objectOf(block["tool"]) ?? {};
  return nameOf(objectOf(tool["definition"])?.["name"] ?? tool["name"] ?? tool["server_name"]);
}

function nameOf(name: unknown): string {
  return typeof name === "string" ? name : "of this name";
}
