import { type JsonObject, stringOf } from "../../../core/index.ts";
import { isInContainer, substituteOf } from "../client-tools.ts";
import { isClientSearch, searchSubstitute } from "../client-search.ts";
import type { ToolNames } from "../tool-names.ts";
import {
  optional,
  readEach,
  readObject,
  readOneOf,
  readWord,
  type Tool,
  type ToolChoice,
} from "../../conversation/index.ts";
import { flat, readTool } from "../../openai-requests.ts";
import { loadingOf, type PlacedTool, placedTools } from "./loaded-tools.ts";

/** Members of a function that the model knows. */
const functionMembers: ReadonlySet<string> = new Set(["type", "name", "description", "parameters", "strict"]);

/** Tools in namespaces are read as tools beside the others; those that the history has loaded stand behind them. */
export function readTools({ tools, input }: JsonObject, names: ToolNames): Tool[] {
  const listed = placedTools(optional(tools, "tools", (value, at) => readEach(value, at, readObject)) ?? [], "tools");
  const { hidden, loaded } = loadingOf(listed, input);
  const read = ({ tool, at, namespace }: PlacedTool, reach?: "own" | "others"): Tool => {
    const one = readAnyTool(tool, at);
    if (one.kind === "native") return one;
    return { ...one, name: names.flatten(one.name, namespace), ...(reach !== undefined && { reach }) };
  };
  return [
    ...listed.map((one) => (hidden.has(one) ? read(one, "own") : read(one))),
    ...loaded.map((one) => read(one, "others")),
  ];
}

/** Tools that the upstream runs; the client runs the others, such as a shell. */
const hostedTool =
  /^(?:web_search|file_search$|code_interpreter$|image_generation$|mcp$|tool_search$|x_search$|code_execution$)/;

function readAnyTool(tool: JsonObject, at: string): Tool {
  switch (tool["type"]) {
    case "function": {
      const extras = Object.entries(tool).filter(([name]) => !functionMembers.has(name));
      const more = extras.length === 0 ? undefined : { extras: Object.fromEntries(extras) };
      return readTool(tool, at, flat, more);
    }
    case "custom":
      return readTool(tool, at, flat);
    default: {
      const type = readWord(tool["type"], `${at}.type`);
      if (isClientSearch(tool))
        return {
          kind: "native",
          at,
          dialect: "responses",
          type,
          value: tool,
          hosted: false,
          substitute: searchSubstitute(tool),
        };
      const hosted = hostedTool.test(type) || (type === "shell" && isInContainer(tool));
      const substitute = hosted ? undefined : substituteOf(type);
      return { kind: "native", at, dialect: "responses", type, value: tool, hosted, substitute };
    }
  }
}

export function readToolChoice(value: unknown, at: string): ToolChoice {
  if (typeof value === "string") return { mode: readOneOf(value, at, ["auto", "required", "none"]), at };
  const choice = readObject(value, at);
  switch (readWord(choice["type"], `${at}.type`)) {
    case "function":
    case "custom":
      return { mode: "tool", at, ...readNamed(choice, at) };
    case "allowed_tools":
      return readAllowed(choice, at);
    default:
      return { mode: "native", at, dialect: "responses", type: stringOf(choice["type"]), value: choice };
  }
}

/** A choice that includes hosted tools can only be sent to their host. */
function readAllowed(choice: JsonObject, at: string): ToolChoice {
  const path = `${at}.tools`;
  const tools = readEach(choice["tools"], path, readObject);
  const hosted = tools.some(({ type }) => type !== "function" && type !== "custom");
  if (hosted) return { mode: "native", at, dialect: "responses", value: choice };
  return {
    mode: readOneOf(choice["mode"], `${at}.mode`, ["auto", "required"]),
    at,
    allowed: tools.map((tool, index) => readNamed(tool, `${path}.${index}`)),
  };
}

function readNamed({ type, name }: JsonObject, at: string): { name: string; custom: boolean } {
  return { name: readWord(name, `${at}.name`), custom: type === "custom" };
}
