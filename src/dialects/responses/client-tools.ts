import { type JsonObject, listOf, objectOf, parseObject, stringOf } from "../../core/index.ts";
import type { AnswerBlock, Part, ToolCallPart, ToolResultPart, ToolSubstitute } from "../conversation/index.ts";
import { isClientSearch } from "./client-search.ts";

/** A tool of OpenAI's that the client runs, as a function: its items, its parameters and the way between both. */
interface ClientTool {
  type: string;
  call: string;
  output: string;
  description: string;
  parameters: JsonObject;
  argumentsOf(item: JsonObject): JsonObject;
  /** The members of a call's item; undefined for arguments that make none. */
  itemOf(args: JsonObject): JsonObject | undefined;
  resultOf(item: JsonObject): Pick<ToolResultPart, "content" | "isError">;
}

const textual = (description: string): JsonObject => ({ type: "string", description });
const words = (description: string): JsonObject => ({ type: "array", items: { type: "string" }, description });
const whole = (description: string): JsonObject => ({ type: "integer", description });

const isWords = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === "string");

const content = (text: string): Part[] => [{ kind: "text", text }];

const shell: ClientTool = {
  type: "shell",
  call: "shell_call",
  output: "shell_call_output",
  description: "Runs shell commands, each in a shell of its own, and returns their output and exit codes.",
  parameters: {
    type: "object",
    properties: {
      commands: words("The commands, which may run in parallel."),
      timeout_ms: whole("The most milliseconds that they may take."),
      max_output_length: whole("The most characters of output to return."),
    },
    required: ["commands"],
  },
  argumentsOf: ({ action }) => objectOf(action) ?? {},
  itemOf({ commands, timeout_ms = null, max_output_length = null }) {
    const list = typeof commands === "string" ? [commands] : commands;
    return isWords(list) ? { action: { commands: list, timeout_ms, max_output_length } } : undefined;
  },
  resultOf: ({ output }) => ({ content: content(typeof output === "string" ? output : JSON.stringify(output ?? [])) }),
};

const localShell: ClientTool = {
  type: "local_shell",
  call: "local_shell_call",
  output: "local_shell_call_output",
  description: "Runs a command on the user's machine and returns its output.",
  parameters: {
    type: "object",
    properties: {
      command: words("The program and its arguments."),
      working_directory: textual("The directory to run it in."),
      timeout_ms: whole("The most milliseconds that it may take."),
      env: { type: "object", additionalProperties: { type: "string" }, description: "Environment variables." },
    },
    required: ["command"],
  },
  argumentsOf({ action }) {
    const { type: _, ...args } = objectOf(action) ?? {};
    return args;
  },
  itemOf({ command, env, ...rest }) {
    const list = typeof command === "string" ? ["bash", "-lc", command] : command;
    return isWords(list) ? { action: { ...rest, type: "exec", command: list, env: objectOf(env) ?? {} } } : undefined;
  },
  resultOf: ({ output }) => ({ content: content(stringOf(output)) }),
};

const operations = ["create_file", "update_file", "delete_file"];

const applyPatch: ClientTool = {
  type: "apply_patch",
  call: "apply_patch_call",
  output: "apply_patch_call_output",
  description:
    "Creates, updates or deletes a file. The diff has hunks that begin with @@ and an optional line of context, such as the name " +
    "of the function; then come lines that begin with a space (context), - (removed) or + (added), without line " +
    "numbers. In the diff of a new file each line begins with +.",
  parameters: {
    type: "object",
    properties: {
      type: { type: "string", enum: operations },
      path: textual("The path of the file, relative to the workspace."),
      diff: textual("The diff; not for delete_file."),
    },
    required: ["type", "path"],
  },
  argumentsOf: ({ operation }) => objectOf(operation) ?? {},
  itemOf({ type, path, diff }) {
    if (!operations.includes(stringOf(type)) || typeof path !== "string") return undefined;
    return { operation: type === "delete_file" ? { type, path } : { type, path, diff: stringOf(diff) } };
  },
  resultOf: ({ status, output }) => ({
    content: content([stringOf(status), stringOf(output)].filter((text) => text !== "").join("\n")),
    isError: status === "failed" ? true : undefined,
  }),
};

const clientTools: readonly ClientTool[] = [shell, localShell, applyPatch];

/** Whether OpenAI runs a shell in a container of its own. */
export function isInContainer({ environment }: JsonObject): boolean {
  return stringOf(objectOf(environment)?.["type"]).startsWith("container");
}

/** The function for a tool of this type on upstreams that don't know it; undefined for a type that has none. */
export function substituteOf(type: string): ToolSubstitute | undefined {
  const tool = clientTools.find((one) => one.type === type);
  return tool && { name: type, description: tool.description, parameters: tool.parameters, restore: restoreOf(tool) };
}

function restoreOf(tool: ClientTool) {
  return (call: ToolCallPart): AnswerBlock => {
    const args = parseObject(call.arguments);
    const members = args && tool.itemOf(args);
    if (members === undefined) return call;
    const { call: type } = tool;
    const { callId, id = `${type}_${callId}` } = call;
    return {
      kind: "native",
      dialect: "responses",
      value: { type, id, call_id: callId, status: "completed", ...members },
    };
  };
}

/** The call of a function, or its result, that an item of these tools stands for. */
export function substituteItem(
  item: JsonObject,
  at: string,
): { type: string; part: ToolCallPart | ToolResultPart } | undefined {
  const { type } = item;
  const tool = clientTools.find(({ call, output }) => call === type || output === type);
  if (tool === undefined || isInContainer(item)) return undefined;
  // An output of the older shell names its call by its own id.
  const callId = stringOf(item["call_id"]) || stringOf(item["id"]);
  const part: ToolCallPart | ToolResultPart =
    tool.call === type
      ? { kind: "tool-call", at, callId, name: tool.type, arguments: JSON.stringify(tool.argumentsOf(item)) }
      : { kind: "tool-result", at: `${at}.call_id`, callId, ...tool.resultOf(item) };
  return { type: tool.type, part };
}

/** The text that a hosted tool's item leaves in a history for other upstreams; undefined for a type that they can't miss. */
export function textOfHosted(item: JsonObject): string | undefined {
  const reader = hostedItems[stringOf(item["type"])];
  return reader?.(item);
}

/** Whether an item is a hosted tool's, or one that its maker alone can read: no other provider takes it. */
export function isMakersOwn(item: JsonObject): boolean {
  const type = stringOf(item["type"]);
  if (type === "custom_tool_call") return isServerRun(item);
  if (isClientSearch(item)) return false;
  return makersAlone.has(type) || Object.hasOwn(hostedItems, type);
}

const makersAlone: ReadonlySet<string> = new Set(["reasoning", "compaction", "context_compaction"]);

const nothing = (): string => "";

const joined = (title: string, texts: readonly string[]): string => {
  const found = texts.filter((text) => text !== "");
  return found.length === 0 ? "" : `${title}\n${found.join("\n")}`;
};

const objects = (value: unknown): JsonObject[] => listOf(value).map((one) => objectOf(one) ?? {});

/** By their types. */
const hostedItems: Readonly<Record<string, (item: JsonObject) => string>> = {
  web_search_call: textOfSearch,
  file_search_call: ({ queries, results }) =>
    joined(
      `Found in files for ${JSON.stringify(queries ?? [])}:`,
      objects(results).map(({ filename, text }) => joined(`${stringOf(filename)}:`, [stringOf(text)])),
    ),
  code_interpreter_call: ({ code, outputs }) =>
    joined("Code that was run:", [
      stringOf(code),
      joined(
        "Its output:",
        objects(outputs).map(({ logs }) => stringOf(logs)),
      ),
    ]),
  mcp_call: ({ name, arguments: args, output, error }) =>
    joined(`Result of ${stringOf(name)}(${stringOf(args)}):`, [stringOf(output), error ? JSON.stringify(error) : ""]),
  shell_call: ({ action }) => joined("Commands that were run:", listOf(objectOf(action)?.["commands"]).map(stringOf)),
  shell_call_output: ({ output }) => joined("Their output:", [JSON.stringify(output ?? [])]),
  program: ({ code }) => joined("Program that was run:", [stringOf(code)]),
  program_output: ({ result, output }) => joined("Its output:", [stringOf(result), stringOf(output)]),
  // Searches of X that xAI runs.
  custom_tool_call: nothing,
  image_generation_call: nothing,
  mcp_list_tools: nothing,
  mcp_approval_request: nothing,
  mcp_approval_response: nothing,
  tool_search_call: nothing,
  tool_search_output: nothing,
  x_search_call: nothing,
  code_execution_call: nothing,
  view_image_call: nothing,
  view_x_video_call: nothing,
};

/** What was searched or opened, and what was found, as far as the item has it. */
function textOfSearch({ action, status }: JsonObject): string {
  const search = objectOf(action) ?? {};
  const [url, pattern] = [stringOf(search["url"]), JSON.stringify(stringOf(search["pattern"]))];
  const failed = status === "failed" ? " This has failed." : "";
  switch (search["type"] ?? "search") {
    case "open_page":
      return url === "" ? "" : `A page of the web that was read: ${url}.${failed}`;
    case "find_in_page":
      return url === "" ? "" : `A page of the web in which ${pattern} was looked for: ${url}.${failed}`;
    default: {
      const asked = [search["query"], ...listOf(search["queries"])].map(stringOf).filter((query) => query !== "");
      const queries = [...new Set(asked)].map((query) => JSON.stringify(query)).join(", ");
      const found = foundBySearch(search);
      if (found === "") return queries === "" ? "" : `A search of the web for ${queries}.${failed}`;
      return `Pages found for ${queries || '""'}:\n${found}`;
    }
  }
}

/** The pages, or other sources, that the action of a search has found, one a line. */
export function foundBySearch({ sources }: JsonObject): string {
  const found = objects(sources).map(({ url, title, name }) =>
    [title, url ?? name]
      .map(stringOf)
      .filter((word) => word !== "")
      .join(": "),
  );
  return found.filter((line) => line !== "").join("\n");
}

/** Whether a call of a tool with free text is one that xAI runs itself: a search of X (`docs/wire/xai.md`). */
export function isServerRun({ type, call_id: callId }: JsonObject): boolean {
  return type === "custom_tool_call" && stringOf(callId).startsWith("xs_call_");
}
