import type { JsonObject } from "../core/index.ts";
import {
  checkBase64,
  type Conversation,
  defined,
  type FunctionTool,
  invalid,
  member,
  type OutputFormat,
  type Part,
  readEach,
  readFlag,
  readObject,
  readOneOf,
  readText,
  readWord,
  refused,
  type Tool,
  type ToolChoice,
} from "./conversation/index.ts";

/** What chat and Responses have in common: tools, formats and parts of content. */

/** The place of the members of a typed object: in chat below the name of the type, in Responses beside the type. */
export interface Nesting {
  dialect: "chat" | "responses";
  /** The members of an object of this type, and their path. */
  open: (object: JsonObject, type: string, at: string) => readonly [JsonObject, string];
  close: (type: string, members: JsonObject) => JsonObject;
}

export const nested: Nesting = {
  dialect: "chat",
  open: (object, type, at) => [readObject(object[type], `${at}.${type}`), `${at}.${type}`],
  close: (type, members) => ({ type, [type]: members }),
};

export const flat: Nesting = {
  dialect: "responses",
  open: (object, _type, at) => [object, at],
  close: (type, members) => ({ type, ...members }),
};

/** A tool that the client runs. `more`: the members that only one of the dialects has. */
export function readTool(
  tool: JsonObject,
  at: string,
  nesting: Nesting,
  more?: Pick<FunctionTool, "cache" | "extras">,
): Tool {
  const kind = tool["type"] === "custom" ? "custom" : "function";
  const [members, path] = nesting.open(tool, kind, at);
  const name = readWord(members["name"], `${path}.name`);
  const description = member(members, "description", path, readText);
  if (kind === "custom") return { kind, at, name, description, format: readGrammar(members, path, nesting) };
  const parameters = member(members, "parameters", path, readObject);
  return { kind, at, name, description, parameters, strict: member(members, "strict", path, readFlag), ...more };
}

/** The format of a tool that takes free text, with its grammar as in Responses. */
function readGrammar(members: JsonObject, at: string, nesting: Nesting): JsonObject | undefined {
  const format = member(members, "format", at, readObject);
  if (format?.["type"] !== "grammar") return format;
  const [{ syntax, definition }] = nesting.open(format, "grammar", `${at}.format`);
  return defined({ type: "grammar", syntax, definition });
}

function writeGrammar(format: JsonObject | undefined, { close }: Nesting): JsonObject | undefined {
  if (format?.["type"] !== "grammar") return format;
  const { type: _, ...grammar } = format;
  return close("grammar", grammar);
}

export function readFormat(value: unknown, at: string, nesting: Nesting): OutputFormat {
  const format = readObject(value, at);
  const type = readOneOf(format["type"], `${at}.type`, ["text", "json_object", "json_schema"]);
  if (type === "text") return { kind: "text", at };
  if (type === "json_object") return { kind: "json", at };
  const [members, path] = nesting.open(format, type, at);
  return {
    kind: "schema",
    at,
    name: member(members, "name", path, readWord),
    description: member(members, "description", path, readText),
    // Chat does without.
    schema: readObject(members["schema"] ?? (nesting === nested ? {} : undefined), `${path}.schema`),
    strict: member(members, "strict", path, readFlag),
  };
}

/** A string, or a list of parts. */
export function readPartsOf(content: unknown, at: string, readPart: (part: unknown, at: string) => Part): Part[] {
  if (typeof content === "string") return [{ kind: "text", at, text: content }];
  if (!Array.isArray(content)) throw invalid(at, "must be a string or an array");
  return readEach(content, at, readPart);
}

/** A part of a message that has the same members in both. */
export function readCommonPart(part: JsonObject, at: string): Part {
  switch (part["type"]) {
    case "refusal":
      return { kind: "refusal", at, text: readText(part["refusal"], `${at}.refusal`) };
    case "input_audio": {
      const [{ data, format }, path] = nested.open(part, "input_audio", at);
      const base64 = readText(data, `${path}.data`);
      checkBase64(base64, `${path}.data`);
      return { kind: "audio", at, data: base64, format: readWord(format, `${path}.format`) };
    }
    default:
      throw invalid(`${at}.type`, "is not a type of content that this model's provider can be given");
  }
}

/** The members about tools. An upstream gets no choice without tools. */
export function writeTools(
  { tools, toolChoice, parallelToolCalls, rest }: Conversation,
  nesting: Nesting,
  write: (tool: Tool, nesting: Nesting) => JsonObject = writeTool,
): JsonObject {
  const unreached = rest.dialect === nesting.dialect ? "others" : "own";
  const reachable = tools.filter((tool) => tool.kind === "native" || tool.reach !== unreached);
  if (reachable.length === 0) return {};
  return {
    tools: reachable.map((tool) => write(tool, nesting)),
    tool_choice: toolChoice === undefined ? undefined : writeToolChoice(toolChoice, nesting),
    parallel_tool_calls: parallelToolCalls,
  };
}

export function writeTool(tool: Tool, nesting: Nesting): JsonObject {
  const { dialect, close } = nesting;
  switch (tool.kind) {
    case "function":
      return close(
        tool.kind,
        defined({ name: tool.name, description: tool.description, parameters: tool.parameters, strict: tool.strict }),
      );
    case "custom":
      return close(
        tool.kind,
        defined({
          name: tool.name,
          description: tool.description,
          format: writeGrammar(tool.format, nesting),
        }),
      );
    case "native":
      if (tool.dialect === dialect) return tool.value;
      throw refused(tool.at, "This tool");
  }
}

function writeToolChoice(choice: ToolChoice, { dialect, close }: Nesting): unknown {
  const named = (tool: { name: string; custom: boolean }): JsonObject =>
    close(tool.custom ? "custom" : "function", { name: tool.name });
  switch (choice.mode) {
    case "tool":
      return named(choice);
    case "native":
      if (choice.dialect === dialect) return choice.value;
      throw refused(choice.at);
    default:
      if (choice.allowed === undefined) return choice.mode;
      return close("allowed_tools", { mode: choice.mode, tools: choice.allowed.map(named) });
  }
}

export function writeFormat(format: OutputFormat, { close }: Nesting): JsonObject {
  switch (format.kind) {
    case "text":
      return { type: "text" };
    case "json":
      return { type: "json_object" };
    case "schema": {
      const { name = "answer", description, schema, strict } = format;
      return close("json_schema", defined({ name, description, schema, strict }));
    }
  }
}
