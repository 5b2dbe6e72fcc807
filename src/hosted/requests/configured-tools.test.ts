import { expect, test } from "bun:test";
import { actionsIn, argumentForm, argumentsOfCalls, type ConfiguredAction } from "./configured-tools.ts";

const text = { type: "string" };
const texts = { type: "array", items: text };
const schema = (properties: object, required?: readonly string[]) => ({ type: "object", properties, required });

const calls = (action: ConfiguredAction, of: object, input: object, settings: object = {}): unknown => {
  const form = argumentForm(action, of as never);
  return form && argumentsOfCalls(action, form, { input: input as never, settings: settings as never });
};

test.each([
  [
    "the same name",
    "code_interpreter",
    schema({ code: text, language: text }, ["code"]),
    { code: "1" },
    [{ code: "1" }],
  ],
  ["the only text", "code_interpreter", schema({ script: text }), { code: "1" }, [{ script: "1" }]],
  [
    "the only one required",
    "code_execution",
    schema({ script: text, n: {} }, ["script"]),
    { code: "1" },
    [{ script: "1" }],
  ],
  [
    "an optional text",
    "code_execution",
    schema({ script: { anyOf: [text, { type: "null" }] } }),
    { code: "1" },
    [{ script: "1" }],
  ],
  ["a list", "file_search", schema({ queries: texts }), { queries: ["a", "b"] }, [{ queries: ["a", "b"] }]],
  ["a list as a text", "file_search", schema({ queries: texts }), { queries: "a" }, [{ queries: ["a"] }]],
  ["a call a text", "shell", schema({ command: text }), { commands: ["a", "b"] }, [{ command: "a" }, { command: "b" }]],
  ["several texts of its own", "code_interpreter", schema({ one: text, two: text }), { code: "1" }, undefined],
  [
    "another one required",
    "code_interpreter",
    schema({ code: text, key: text }, ["code", "key"]),
    { code: "1" },
    undefined,
  ],
  ["no text", "code_interpreter", schema({ code: { type: "number" } }), { code: "1" }, undefined],
  ["an empty text", "code_interpreter", schema({ code: text }), { code: " " }, undefined],
  ["no text in a list", "shell", schema({ command: text }), { commands: ["ls", 7] }, undefined],
  ["an empty list", "shell", schema({ command: text }), { commands: [] }, undefined],
  [
    "too many calls",
    "shell",
    schema({ command: text }),
    { commands: Array.from({ length: 11 }, () => "ls") },
    undefined,
  ],
] as const)("arguments: %s", (_title, action, of, input, expected) => {
  expect(calls(action, of, input)).toEqual(expected);
});

test("settings of the request, and further arguments, are passed where the tool has a property of their name", () => {
  const files = schema({ query: text, vector_store_ids: texts, type: text }, ["query"]);
  const settings = { type: "file_search", vector_store_ids: ["vs"], ranking_options: {} };
  expect(calls("file_search", files, { queries: ["a"] }, settings)).toEqual([{ query: "a", vector_store_ids: ["vs"] }]);
  // What the model writes is not of the request.
  const told = { queries: ["a"], vector_store_ids: ["other"] };
  expect(calls("file_search", files, told, settings)).toEqual([{ query: "a", vector_store_ids: ["vs"] }]);
  const shell = schema({ command: text, timeout_ms: {} }, ["command"]);
  expect(calls("shell", shell, { commands: ["ls"], timeout_ms: 5, other: 1 })).toEqual([
    { command: "ls", timeout_ms: 5 },
  ]);
});

test("an editor gets its arguments as they are", () => {
  const edit = schema({ command: text, path: text, old_str: text });
  const input = { command: "view", path: "/a", file_text: "x" };
  expect(calls("text_editor_code_execution", edit, input)).toEqual([{ command: "view", path: "/a" }]);
  expect(calls("text_editor_code_execution", edit, { command: "view" })).toBeUndefined();
  expect(calls("text_editor_code_execution", schema({ command: text }), input)).toBeUndefined();
  for (const command of ["delete", "View", "", 7, ["view"]])
    expect(calls("text_editor_code_execution", edit, { ...input, command })).toBeUndefined();
});

test("a version has the functions that it knows", () => {
  const all = { code_execution: "a__b", bash_code_execution: "a__c" };
  expect(actionsIn(all, "code_execution_20250522").map(({ action }) => action)).toEqual(["code_execution"]);
  expect(actionsIn(all, "code_execution_20250825").map(({ name }) => name)).toEqual(["a__b", "a__c"]);
});
