/** Tools that search the tools of a URL, in place of a list that fills the context of a model. */
import { z } from "zod";
import { GatewayError, type JsonObject } from "../../core/index.ts";
import type { ToolAnswer, ToolCall, ToolListing } from "../../mcp/index.ts";
import type { ToolDoor } from "../../tools/index.ts";
import { searchedDefinitions } from "./own/own-tools.ts";
import { callAt, definitionsAt, type DoorCaller, seekerOf } from "./tool-door.ts";

const FOUND = 10;
const FOUND_MAX = 50;
const DESCRIBED_MAX = 20;

/** A token of JSON is about so long. */
const TOKEN_CHARACTERS = 4;

const inputs = {
  tool_search: z.object({
    query: z.string().min(1).max(500).describe("Words of the task or of the tool, such as: create issue github."),
    limit: z.number().int().min(1).max(FOUND_MAX).default(FOUND).describe(`The most tools; ${FOUND} by default.`),
  }),
  tool_describe: z.object({
    names: z.array(z.string().max(200)).min(1).max(DESCRIBED_MAX).describe("Names that tool_search has returned."),
  }),
  tool_call: z.object({
    name: z.string().max(200).describe("The name that tool_search has returned."),
    arguments: z.looseObject({}).default({}).describe("As the tool's inputSchema describes them; see tool_describe."),
  }),
};

type SearchTool = keyof typeof inputs;

const texts: Readonly<Record<SearchTool, { title: string; description: string; isReadOnly: boolean }>> = {
  tool_search: {
    title: "Search tools",
    description: "Finds tools by words and returns their names and descriptions. Call them with tool_call.",
    isReadOnly: true,
  },
  tool_describe: {
    title: "Describe tools",
    description: "Returns the whole definitions of tools, with the schemas of their arguments.",
    isReadOnly: true,
  },
  tool_call: { title: "Call a tool", description: "Calls a tool that tool_search has found.", isReadOnly: false },
};

function definitionOf(name: SearchTool): JsonObject {
  const { title, description, isReadOnly } = texts[name];
  const { $schema: _schema, ...inputSchema } = z.toJSONSchema(inputs[name], { io: "input" });
  return { name, title, description, inputSchema, annotations: { readOnlyHint: isReadOnly } };
}

const listing = JSON.stringify((Object.keys(inputs) as SearchTool[]).map(definitionOf));

/** Whether a URL offers these tools: always, never, or if its list is longer than so many tokens. */
export type SearchMode = "always" | "never" | { above: number };

export function searchModeOf(url: string, above: number | undefined): SearchMode {
  const query = url.indexOf("?");
  if (query !== -1 && new URLSearchParams(url.slice(query)).get("mode") === "search") return "always";
  return above === undefined ? "never" : { above };
}

/** These tools instead of the list, if that is too long. */
export function searchListing(list: ToolListing, mode: SearchMode): ToolListing {
  const isLong = mode === "always" || (mode !== "never" && list.tools.length / TOKEN_CHARACTERS > mode.above);
  return isLong ? { ...list, tools: listing } : list;
}

/** Undefined if it is none of these tools. Rejects with a `GatewayError`. */
export function callSearchTool(
  door: ToolDoor,
  call: ToolCall,
  { mode, caller }: { mode: SearchMode; caller: DoorCaller },
): Promise<ToolAnswer | undefined> | undefined {
  if (mode === "never") return undefined;
  switch (call.name) {
    case "tool_search":
      return searchTools(door, read(inputs.tool_search, call), caller);
    case "tool_describe":
      return describeTools(door, read(inputs.tool_describe, call), caller);
    case "tool_call":
      return callAt(door, { ...call, ...read(inputs.tool_call, call) }, caller);
    default:
      return undefined;
  }
}

async function searchTools(
  door: ToolDoor,
  asked: z.output<typeof inputs.tool_search>,
  caller: DoorCaller,
): Promise<ToolAnswer> {
  const own = searchedDefinitions(caller.services.mcp.models);
  const found = await door.search({ ...asked, ...seekerOf(caller), own });
  return dataAnswer({ tools: found.map(({ name, definition: { description } }) => ({ name, description })) });
}

async function describeTools(
  door: ToolDoor,
  { names }: z.output<typeof inputs.tool_describe>,
  caller: DoorCaller,
): Promise<ToolAnswer> {
  const { definitions } = await definitionsAt(door, caller);
  const wanted = new Set<unknown>(names);
  const tools = definitions.filter(({ name }) => wanted.has(name));
  const unknown = names.filter((name) => !tools.some((tool) => tool["name"] === name));
  return dataAnswer({ tools, ...(unknown.length > 0 && { unknown }) });
}

function dataAnswer(data: JsonObject): ToolAnswer {
  return { result: { content: [{ type: "text", text: JSON.stringify(data) }], structuredContent: data } };
}

function read<Shape extends z.ZodType>(input: Shape, { arguments: given }: ToolCall): z.output<Shape> {
  const checked = input.safeParse(given);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  const param = issue?.path.join(".") ?? "";
  throw new GatewayError("validation_failed", `${param}: ${issue?.message ?? "not valid"}`, { param });
}
