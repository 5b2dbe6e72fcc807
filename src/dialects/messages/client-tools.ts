import { type JsonObject, stringOf } from "../../core/index.ts";
import type { ToolSubstitute } from "../conversation/index.ts";

const text = (description: string): JsonObject => ({ type: "string", description });

/** Members of the commands that both the editor and the memory have. */
const edited = {
  path: text("The path of the file or directory."),
  view_range: {
    type: "array",
    items: { type: "integer" },
    description: "For view: the first and the last line to show, counted from 1; -1 for the last of the file.",
  },
  file_text: text("For create: the content of the file."),
  old_str: text("For str_replace: the text to replace, which must occur exactly once."),
  new_str: text("For str_replace: the text in its place."),
  insert_line: {
    type: "integer",
    description: "For insert: the line after which the text is inserted; 0 for the start.",
  },
  insert_text: text("For insert: the text."),
};

function commands(names: readonly string[], properties: JsonObject, required: readonly string[]): JsonObject {
  return {
    type: "object",
    properties: { command: { type: "string", enum: names }, ...properties },
    required: ["command", ...required],
  };
}

/** The tools of Anthropic's that the client runs, with their documented inputs; calls are blocks like those of functions. */
const clientTools: readonly [RegExp, Omit<ToolSubstitute, "name">][] = [
  [
    /^bash_/,
    {
      description: "Runs a command in a persistent bash session, whose state lasts between calls.",
      parameters: {
        type: "object",
        properties: {
          command: text("The bash command to run. Required unless the session is restarted."),
          restart: { type: "boolean", description: "Restarts the session." },
        },
      },
    },
  ],
  [
    /^text_editor_(?:2024|20250124)/,
    {
      description: "Views, creates and edits text files.",
      parameters: commands(["view", "create", "str_replace", "insert", "undo_edit"], editedWithUndo(), ["path"]),
    },
  ],
  [
    /^text_editor_/,
    {
      description: "Views, creates and edits text files.",
      parameters: commands(["view", "create", "str_replace", "insert"], edited, ["path"]),
    },
  ],
  [
    /^memory_/,
    {
      description: "Stores notes in files below /memories, which last between conversations, and reads them again.",
      parameters: commands(
        ["view", "create", "str_replace", "insert", "delete", "rename"],
        { ...edited, old_path: text("For rename: the path."), new_path: text("For rename: the new path.") },
        [],
      ),
    },
  ],
];

/** In the older editor the inserted text is `new_str`. */
function editedWithUndo(): JsonObject {
  const { insert_text: _, ...rest } = edited;
  return { ...rest, new_str: text("For str_replace: the text in its place. For insert: the text.") };
}

/** The function for a tool of this type on other upstreams; undefined for a type that has none. */
export function substituteOf(type: string, { name }: JsonObject): ToolSubstitute | undefined {
  const found = clientTools.find(([types]) => types.test(type))?.[1];
  return found && { ...found, name: stringOf(name) || type.replace(/_\d+$/, "") };
}
