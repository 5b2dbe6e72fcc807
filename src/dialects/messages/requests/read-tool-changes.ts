import { type JsonObject, listOf, objectOf, objectsOf, stringOf } from "../../../core/index.ts";
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

/** A block that adds a tool to a conversation, removes one or loads one that was deferred. */
interface ToolChange {
  name: string;
  removes: boolean;
  /** The tool, if the block defines it, or if it is deferred. */
  tool: FunctionTool | undefined;
}

/**
 * The tools of a conversation: those of its `tools`, and for upstreams of other dialects, which do not act on the blocks
 * that add, remove and load tools, those in effect at its end. Deferred tools (`defer_loading`) are in effect once a search or an
 * addition has named them, or a call.
 */
export function withToolChanges(
  tools: readonly Tool[],
  messages: readonly unknown[],
  readTool: (tool: JsonObject, at: string) => Tool,
): Tool[] {
  const deferred = deferredIn(tools);
  const last = new Map<string, ToolChange>();
  for (const { block, at } of messages.flatMap((message, index) => changesIn(message, index, deferred))) {
    const change = readChange(block, at, readTool);
    const tool = change.tool ?? last.get(change.name)?.tool ?? deferred?.get(change.name);
    last.set(change.name, { ...change, tool });
  }
  const declared = tools.map((tool): Tool => {
    if (tool.kind !== "function") return tool;
    const { removes, tool: other } = last.get(tool.name) ?? {};
    return removes === true || other !== undefined || (deferred !== undefined && isDeferred(tool))
      ? { ...tool, reach: "own" }
      : tool;
  });
  const defined = [...last.values()].filter(({ removes }) => !removes);
  return [...declared, ...defined.flatMap(({ tool }): Tool[] => (tool ? [{ ...tool, reach: "others" }] : []))];
}

/** The deferred tools by their names. Undefined for none, and in a list without any other tool: nothing could load them. */
function deferredIn(tools: readonly Tool[]): ReadonlyMap<string, FunctionTool> | undefined {
  const functions = tools.filter((tool) => tool.kind === "function");
  if (!functions.some(isDeferred)) return undefined;
  const others = new Set(functions.flatMap((tool) => (isDeferred(tool) ? [] : [tool.name])));
  if (others.size === 0 && !tools.some((tool) => tool.kind === "native" && !tool.hosted)) return undefined;
  const deferred = new Map<string, FunctionTool>();
  for (const tool of functions) if (isDeferred(tool) && !others.has(tool.name)) deferred.set(tool.name, tool);
  return deferred;
}

function isDeferred({ extras }: FunctionTool): boolean {
  return extras?.["defer_loading"] === true;
}

function readChange(block: JsonObject, at: string, readTool: (tool: JsonObject, at: string) => Tool): ToolChange {
  if (block["type"] === "tool_reference")
    return { name: stringOf(block["tool_name"]), removes: false, tool: undefined };
  if (block["type"] === "tool_use") return { name: stringOf(block["name"]), removes: false, tool: undefined };
  const path = `${at}.tool`;
  const given = readObject(block["tool"], path);
  const removes = block["type"] === "tool_removal";
  const definition = optional(given["definition"], `${path}.definition`, readObject);
  const read = definition === undefined ? undefined : readTool(definition, `${path}.definition`);
  const tool = read?.kind === "function" ? read : undefined;
  return { name: tool?.name ?? member(given, "name", path, readText) ?? "", removes, tool };
}

/** A compaction repeats the changes of what it has replaced. */
function changesIn(
  message: unknown,
  index: number,
  deferred: ReadonlyMap<string, FunctionTool> | undefined,
): { block: JsonObject; at: string }[] {
  return listOf(objectOf(message)?.["content"]).flatMap((value, place) => {
    const block = objectOf(value) ?? {};
    const at = `messages.${index}.content.${place}`;
    const { type } = block;
    if (deferred !== undefined) {
      const loads = loadsIn(block).filter(({ tool_name: referenced, name }) =>
        deferred.has(stringOf(referenced ?? name)),
      );
      if (loads.length > 0) return loads.map((one) => ({ block: one, at }));
    }
    if (type === "tool_addition" || type === "tool_removal") return [{ block, at }];
    if (type !== "compaction") return [];
    return listOf(block["tool_changes"]).map((one, number) => ({
      block: readObject(one, `${at}.tool_changes.${number}`),
      at: `${at}.tool_changes.${number}`,
    }));
  });
}

/** References to tools in the result of a search, of the provider's or of the client's; and a call. */
function loadsIn(block: JsonObject): JsonObject[] {
  switch (block["type"]) {
    case "tool_use":
      return [block];
    case "tool_result":
      return objectsOf(block["content"]).filter(({ type }) => type === "tool_reference");
    case "tool_search_tool_result":
      return objectsOf(objectOf(block["content"])?.["tool_references"]);
    default:
      return [];
  }
}

function changed(block: JsonObject): string {
  const tool = objectOf(block["tool"]) ?? {};
  return nameOf(objectOf(tool["definition"])?.["name"] ?? tool["name"] ?? tool["server_name"]);
}

function nameOf(name: unknown): string {
  return typeof name === "string" ? name : "of this name";
}
