import { type JsonObject, objectOf } from "../../../core/index.ts";
import {
  invalid,
  member,
  readEach,
  readObject,
  readText,
  readWord,
  type Tool,
  type ToolChoice,
} from "../../conversation/index.ts";
import { inCamel } from "../camel.ts";
import { readListOf } from "./read-parts.ts";
import { readSchema } from "./read-schema.ts";

/** Every member of an entry is a tool, or a list of functions. */
export function readTools(value: unknown, at: string): Tool[] {
  return readListOf(value, at).flatMap((entry, index) => {
    const path = `${at}.${index}`;
    const { functionDeclarations, ...others } = inCamel(readObject(entry, path));
    const functions =
      functionDeclarations === undefined || functionDeclarations === null
        ? []
        : readListOf(functionDeclarations, `${path}.functionDeclarations`).map((one, number) =>
            readFunction(one, `${path}.functionDeclarations.${number}`),
          );
    const hosted = Object.entries(others).flatMap(([type, options]): Tool[] =>
      options === undefined || options === null ? [] : [readHosted(type, options, `${path}.${type}`)],
    );
    return [...functions, ...hosted];
  });
}

/** A tool that Google runs. The client runs only the computer. */
function readHosted(type: string, options: unknown, at: string): Tool {
  return {
    kind: "native",
    at: at.slice(0, 200),
    dialect: "gemini",
    type,
    value: { [type]: options },
    hosted: type !== "computerUse",
  };
}

/** Members of a function that the model knows. */
const known: ReadonlySet<string> = new Set(["name", "description", "parameters", "parametersJsonSchema"]);

function readFunction(value: unknown, at: string): Tool {
  const declared = inCamel(readObject(value, at));
  const extras = Object.entries(declared).filter(([name]) => !known.has(name));
  return {
    kind: "function",
    at,
    name: readWord(declared["name"], `${at}.name`),
    description: member(declared, "description", at, readText),
    parameters: readParameters(declared, at),
    extras: extras.length === 0 ? undefined : Object.fromEntries(extras),
  };
}

/** A function without parameters has none here; others demand an object. */
function readParameters(declared: JsonObject, at: string): JsonObject {
  const own = member(declared, "parametersJsonSchema", at, readObject);
  const schema = own ?? readSchema(member(declared, "parameters", at, readObject) ?? {});
  return Object.keys(schema).length === 0 ? { type: "object", properties: {} } : schema;
}

/** The choice, `toolConfig.functionCallingConfig`. */
export function readToolChoice(config: JsonObject): ToolChoice | undefined {
  const at = "toolConfig.functionCallingConfig";
  const given = objectOf(config["functionCallingConfig"]);
  if (given === undefined) return undefined;
  const { mode: word, allowedFunctionNames } = inCamel(given);
  const mode = typeof word === "string" ? word.toUpperCase() : "AUTO";
  const names =
    allowedFunctionNames === undefined || allowedFunctionNames === null
      ? []
      : readEach(allowedFunctionNames, `${at}.allowedFunctionNames`, readWord);
  const allowed = names.length === 0 ? undefined : names.map((name) => ({ name, custom: false }));
  switch (mode) {
    case "MODE_UNSPECIFIED":
    case "AUTO":
      return { mode: "auto", at };
    case "VALIDATED":
      return { mode: "auto", at, allowed };
    case "NONE":
      return { mode: "none", at };
    case "ANY": {
      const [only] = names;
      if (names.length === 1 && only !== undefined) return { mode: "tool", at, name: only, custom: false };
      return { mode: "required", at, allowed };
    }
    default:
      throw invalid(`${at}.mode`, "must be one of AUTO, ANY, NONE, VALIDATED");
  }
}
