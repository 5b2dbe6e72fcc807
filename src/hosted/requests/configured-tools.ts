/** Hosted tools that tools of the configuration's servers run: their functions, and the arguments of those. */
import { type JsonObject, keysOf, listOf, objectOf, stringOf } from "../../core/index.ts";

/** A tool as `tools.hosted` names it. */
export type ConfiguredKind = "code_interpreter" | "code_execution" | "file_search" | "shell";

/** A function of such a tool, as the provider's own model would call it. */
export type ConfiguredAction =
  | "code_interpreter"
  | "code_execution"
  | "bash_code_execution"
  | "text_editor_code_execution"
  | "file_search"
  | "shell";

/** The tools of servers, as `server__tool`, by the functions that they run. */
export type ConfiguredTools = Readonly<Partial<Record<ConfiguredAction, string>>>;

interface ActionForm {
  description: string;
  properties: JsonObject;
  required: readonly string[];
  /** The argument that makes the call; undefined if all of them do. */
  main: string | undefined;
  /** Its name for a tool that takes one of its texts alone. */
  single?: string;
}

const text = (description: string): JsonObject => ({ type: "string", description });
const texts = (description: string): JsonObject => ({ type: "array", items: { type: "string" }, description });
const whole = (description: string): JsonObject => ({ type: "integer", description });

const code = {
  properties: { code: text("The code.") },
  required: ["code"],
  main: "code",
};

const forms: Readonly<Record<ConfiguredAction, ActionForm>> = {
  code_interpreter: { description: "Runs Python code, and returns its output.", ...code },
  code_execution: { description: "Runs Python code, and returns its output.", ...code },
  bash_code_execution: {
    description: "Runs a command of bash, and returns its output.",
    properties: { command: text("The command.") },
    required: ["command"],
    main: "command",
  },
  text_editor_code_execution: {
    description: "Views, creates and edits files of the place where code runs.",
    properties: {
      command: { type: "string", enum: ["view", "create", "str_replace"] },
      path: text("The path of the file."),
      file_text: text("The text of a file to create."),
      old_str: text("The text to replace, which the file has once."),
      new_str: text("The text in its place."),
    },
    required: ["command", "path"],
    main: undefined,
  },
  file_search: {
    description: "Searches the user's files, and returns passages of them.",
    properties: { queries: texts("What to search for.") },
    required: ["queries"],
    main: "queries",
    single: "query",
  },
  shell: {
    description: "Runs shell commands, and returns their output and exit codes.",
    properties: {
      commands: texts("The commands, one after the other."),
      timeout_ms: whole("The most milliseconds that each may take."),
      max_output_length: whole("The most characters of output to return."),
    },
    required: ["commands"],
    main: "commands",
    single: "command",
  },
};

export function configuredDefinition(action: ConfiguredAction): { description: string; parameters: JsonObject } {
  const { description, properties, required } = forms[action];
  return { description, parameters: { type: "object", properties, required, additionalProperties: false } };
}

/** The functions that a version of a tool has, of those that are configured. The first version of Anthropic's ran Python alone. */
export function actionsIn(configured: ConfiguredTools, type: string): { action: ConfiguredAction; name: string }[] {
  const isFirst = type === "code_execution_20250522";
  return keysOf(forms).flatMap((action) => {
    const name = configured[action];
    return name === undefined || (isFirst && action !== "code_execution") ? [] : [{ action, name }];
  });
}

/** How a tool gets the arguments of a function. */
export interface ArgumentForm {
  /** The property with the main argument; undefined if all arguments keep their names. */
  member: string | undefined;
  /** Whether it takes all texts of a list at once; else there is a call for each. */
  takesList: boolean;
  /** All properties of the tool. */
  members: ReadonlySet<string>;
}

/** Undefined for a tool that can't run the function: it has no property of the same name, and not exactly one for a text. */
export function argumentForm(action: ConfiguredAction, schema: JsonObject): ArgumentForm | undefined {
  const { main, single, required } = forms[action];
  const properties = objectOf(schema["properties"]) ?? {};
  const members = new Set(Object.keys(properties));
  if (main === undefined)
    return required.every((name) => members.has(name)) ? { member: undefined, takesList: false, members } : undefined;
  const needed = listOf(schema["required"]).map(stringOf);
  const only = needed.length === 0 ? [...members] : needed;
  const member = [main, single, only.length === 1 ? only[0] : undefined].find(
    (name) => name !== undefined && members.has(name) && takesText(properties[name]),
  );
  // Another argument that it needs would never come.
  if (member === undefined || needed.some((name) => name !== member)) return undefined;
  return { member, takesList: isList(properties[member]), members };
}

function takesText(property: unknown): boolean {
  return isOfType(property, "string") || isList(property);
}

function isList(property: unknown): boolean {
  return !isOfType(property, "string") && isOfType(property, "array");
}

/** A property without a type may be anything. */
function isOfType(property: unknown, type: string): boolean {
  const { type: own, anyOf, oneOf } = objectOf(property) ?? {};
  const choices = [...listOf(anyOf), ...listOf(oneOf)];
  if (choices.length > 0) return choices.some((choice) => isOfType(choice, type));
  return own === undefined ? type === "string" : own === type || listOf(own).includes(type);
}

/** The most calls of a tool for one use. */
const CALLS_MAX = 10;

/**
 * The arguments of each call of the tool, given those of the function, and the settings of the hosted tool in the request, which are
 * passed if the tool has a property of their name. Undefined for arguments that are not valid.
 */
export function argumentsOfCalls(
  action: ConfiguredAction,
  { member, takesList, members }: ArgumentForm,
  { input, settings }: { input: JsonObject; settings: JsonObject },
): readonly JsonObject[] | undefined {
  const { main, properties, required } = forms[action];
  // A container may have secrets in it.
  const { type: _type, name: _name, container: _container, environment: _environment, ...own } = settings;
  const shared = Object.fromEntries(
    Object.entries({ ...argumentsIn(action, input), ...own }).filter(([name]) => members.has(name)),
  );
  if (main === undefined || member === undefined)
    return required.every((name) => isOneOf(properties[name], input[name])) ? [shared] : undefined;
  const given = textsIn(input[main]);
  if (given === undefined) return undefined;
  if (takesList) return [{ ...shared, [member]: given }];
  return given.length > CALLS_MAX ? undefined : given.map((each) => ({ ...shared, [member]: each }));
}

/** Whether a text is one of those that a property may have. Other commands of a server's tool are not the model's to call. */
function isOneOf(property: unknown, value: unknown): boolean {
  const { enum: values } = objectOf(property) ?? {};
  return typeof value === "string" && (values === undefined || listOf(values).includes(value));
}

/** Those that the function has: the model could change the settings of the request otherwise. */
function argumentsIn(action: ConfiguredAction, input: JsonObject): JsonObject {
  const { properties } = forms[action];
  return Object.fromEntries(Object.entries(input).filter(([name]) => Object.hasOwn(properties, name)));
}

/** The texts of an argument, which models also write as one text. Undefined for one without any. */
export function textsIn(value: unknown): string[] | undefined {
  const list = typeof value === "string" ? [value] : listOf(value);
  const given = list.filter((each) => typeof each === "string" && each.trim() !== "");
  return given.length === 0 || given.length < list.length ? undefined : given.map(stringOf);
}
