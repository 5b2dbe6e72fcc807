import { describe, expect, test } from "bun:test";
import { GatewayError, type JsonObject, objectsOf, parseObject } from "../../../core/index.ts";
import { chatUpstream, clientOf } from "../../../../test/kit/dialects/contexts.ts";
import { chatTranslation } from "../../chat/index.ts";
import { messagesTranslation } from "../../messages/index.ts";
import { responsesTranslation } from "../../responses/index.ts";
import { collectAnswer, type DialectTranslation, eventsOfAnswer } from "../index.ts";
import { restoringTools, substituteTools } from "./substitute-tools.ts";

const target = { model: "m", origin: "other", outputTokensMax: 1_000 };

const nothing = (): boolean => false;

function substituted(body: JsonObject, from: DialectTranslation) {
  const { conversation, restore } = substituteTools(from.readRequest({ model: "m", max_tokens: 10, ...body }), nothing);
  const client = restoringTools(from, restore ?? new Map());
  return {
    chat: chatTranslation.writeRequest(conversation, target) as Record<string, unknown>,
    messages: (): JsonObject => messagesTranslation.writeRequest(conversation, target),
    /** The client's whole answer and its stream, of a chat upstream that calls a function. */
    answered: (name: string, args: string): [JsonObject, JsonObject[]] => {
      const calls = [{ id: "call_1", type: "function", function: { name, arguments: args } }];
      const choices = [
        { index: 0, message: { role: "assistant", content: null, tool_calls: calls }, finish_reason: "tool_calls" },
      ];
      const answer = chatTranslation.readAnswer({ id: "x", model: "m", choices }, chatUpstream);
      const whole = parseObject(client.writeAnswer(answer, clientOf())) ?? {};
      const writer = client.streamWriter(clientOf());
      const text = [...eventsOfAnswer(answer)].map((event) => writer.write(event)).join("");
      return [whole, text.split("\n").flatMap((line) => objectsOf([parseObject(line.replace(/^data: /, ""))]))];
    },
  };
}

const functionsOf = (chat: Record<string, unknown>): JsonObject[] =>
  (chat["tools"] as { function: JsonObject }[]).map((tool) => tool.function);

describe("a tool that takes free text", () => {
  const grammar = { type: "grammar", syntax: "lark", definition: "start: WORD" };
  const tool = { type: "custom", name: "apply_patch", description: "Patches.", format: grammar };
  const hello = { role: "user", content: "hello" };
  const call = { type: "custom_tool_call", id: "ctc_1", call_id: "c", name: "apply_patch", input: '*** "Begin"\n' };
  const output = { type: "custom_tool_call_output", call_id: "c", output: "Done." };
  const { chat, messages, answered } = substituted(
    { input: [hello, call, output], tools: [tool], tool_choice: { type: "custom", name: "apply_patch" } },
    responsesTranslation,
  );

  test("is a function of one string with its grammar in the description, in the history too", () => {
    const [offered] = functionsOf(chat);
    expect(offered).toMatchObject({
      name: "apply_patch",
      parameters: { type: "object", properties: { input: { type: "string" } }, required: ["input"] },
    });
    expect(offered?.["description"]).toStartWith("Patches.");
    expect(offered?.["description"]).toContain("lark grammar:\nstart: WORD");
    expect(chat["tool_choice"]).toEqual({ type: "function", function: { name: "apply_patch" } });
    const args = JSON.stringify({ input: call.input });
    expect(chat["messages"]).toEqual([
      hello,
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "apply_patch", arguments: args } }],
      },
      { role: "tool", tool_call_id: "c", content: "Done." },
    ]);
    expect(messages()["tool_choice"]).toEqual({ type: "tool", name: "apply_patch" });
    expect(JSON.stringify(messages()["messages"])).toContain(JSON.stringify({ input: call.input }));
  });

  test.each<[string, string]>([
    ['{"input":"*** \\"Begin\\"\\n"}', '*** "Begin"\n'],
    ['{"patch":"x"}', "x"],
    ["*** Begin", "*** Begin"],
    ["", ""],
  ])("gets the text of %s back, whole and streamed", (args, text) => {
    const [whole, events] = answered("apply_patch", args);
    const item = { type: "custom_tool_call", call_id: "call_1", name: "apply_patch", input: text };
    expect(whole["output"]).toMatchObject([item]);
    expect(events.filter(({ type }) => type === "response.output_item.done")).toMatchObject([{ item }]);
    const deltas = events.filter(({ type }) => type === "response.custom_tool_call_input.delta");
    expect(deltas.map(({ delta }) => delta).join("")).toBe(text);
  });

  test("of chat is one likewise", () => {
    const custom = {
      type: "custom",
      custom: { name: "note", format: { type: "grammar", grammar: { syntax: "regex", definition: "a+" } } },
    };
    const own = substituted({ messages: [hello], tools: [custom] }, chatTranslation);
    expect(functionsOf(own.chat)[0]?.["description"]).toContain("regex grammar:\na+");
    const [whole] = own.answered("note", '{"input":"aa"}');
    expect(whole["choices"]).toMatchObject([
      { message: { tool_calls: [{ type: "custom", custom: { name: "note", input: "aa" } }] } },
    ]);
  });

  test("keeps its kind at an upstream that has it, in that one's form", () => {
    const read = responsesTranslation.readRequest({ model: "m", input: "hello", tools: [tool] });
    const { conversation } = substituteTools(read, (type) => type === "custom");
    expect(conversation).toBe(read);
    const { type: _, ...bare } = grammar;
    expect(chatTranslation.writeRequest(conversation, target)["tools"]).toEqual([
      {
        type: "custom",
        custom: { name: "apply_patch", description: "Patches.", format: { type: "grammar", grammar: bare } },
      },
    ]);
  });
});

describe("OpenAI's tools of the client", () => {
  const tools = [
    { type: "shell" },
    { type: "apply_patch" },
    { type: "local_shell" },
    { type: "function", name: "shell", parameters: { type: "object" } },
  ];
  const body = (input: JsonObject[]) => ({ input: [{ role: "user", content: "hello" }, ...input], tools });
  const operation = { type: "update_file", path: "a.ts", diff: "@@\n-a\n+b" };

  test("are functions with names of their own", () => {
    const { chat } = substituted(body([]), responsesTranslation);
    expect(functionsOf(chat).map(({ name }) => name)).toEqual(["shell_2", "apply_patch", "local_shell", "shell"]);
  });

  test("are those of the history", () => {
    const output = [{ stdout: "a", stderr: "", outcome: { type: "exit", exit_code: 0 } }];
    const { chat } = substituted(
      body([
        {
          type: "shell_call",
          id: "sh",
          call_id: "c1",
          status: "completed",
          action: { commands: ["ls"], timeout_ms: 5 },
        },
        { type: "apply_patch_call", id: "ap", call_id: "c2", status: "completed", operation },
        {
          type: "local_shell_call",
          id: "ls",
          call_id: "c3",
          status: "completed",
          action: { type: "exec", command: ["ls"], env: {} },
        },
        { type: "shell_call_output", call_id: "c1", output },
        { type: "apply_patch_call_output", call_id: "c2", status: "failed", output: "no such line" },
        { type: "local_shell_call_output", id: "c3", output: "b" },
      ]),
      responsesTranslation,
    );
    const called = (id: string, name: string, args: JsonObject) => ({
      id,
      type: "function",
      function: { name, arguments: JSON.stringify(args) },
    });
    expect(chat["messages"]).toEqual([
      { role: "user", content: "hello" },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          called("c1", "shell_2", { commands: ["ls"], timeout_ms: 5 }),
          called("c2", "apply_patch", operation),
          called("c3", "local_shell", { command: ["ls"], env: {} }),
        ],
      },
      { role: "tool", tool_call_id: "c1", content: JSON.stringify(output) },
      { role: "tool", tool_call_id: "c2", content: "Error: failed\nno such line" },
      { role: "tool", tool_call_id: "c3", content: "b" },
    ]);
  });

  test.each<[string, JsonObject, JsonObject]>([
    [
      "shell_2",
      { commands: ["ls", "pwd"] },
      { type: "shell_call", action: { commands: ["ls", "pwd"], timeout_ms: null, max_output_length: null } },
    ],
    ["shell_2", { commands: "ls" }, { type: "shell_call", action: { commands: ["ls"] } }],
    ["apply_patch", operation, { type: "apply_patch_call", operation }],
    [
      "apply_patch",
      { type: "delete_file", path: "a", diff: "x" },
      { type: "apply_patch_call", operation: { type: "delete_file", path: "a" } },
    ],
    [
      "local_shell",
      { command: ["ls"] },
      { type: "local_shell_call", action: { type: "exec", command: ["ls"], env: {} } },
    ],
    // Arguments that make no item are left to the client.
    ["apply_patch", { type: "rename_file" }, { type: "function_call", name: "apply_patch" }],
    ["shell", {}, { type: "function_call", name: "shell" }],
  ])("%s with %j is its item, whole and streamed", (name, args, item) => {
    const [whole, events] = substituted(body([]), responsesTranslation).answered(name, JSON.stringify(args));
    expect(whole["output"]).toMatchObject([{ ...item, call_id: "call_1", status: "completed" }]);
    expect(events.filter(({ type }) => type === "response.output_item.done")).toMatchObject([{ item }]);
    const last = events.at(-1)?.["response"] as JsonObject;
    expect(last["output"]).toEqual(whole["output"]);
  });

  test("an output needs its call", () => {
    const alone = body([{ type: "shell_call_output", call_id: "c9", output: [] }]);
    expect(() => substituted(alone, responsesTranslation)).toThrow(GatewayError);
  });

  test("a shell in a container is hosted, and may be left out", () => {
    const { tools: read } = responsesTranslation.readRequest({
      model: "m",
      input: "hello",
      tools: [
        { type: "shell", environment: { type: "container_auto" } },
        { type: "shell", environment: { type: "local" } },
      ],
    });
    expect(read).toMatchObject([
      { hosted: true, substitute: undefined },
      { hosted: false, substitute: { name: "shell" } },
    ]);
  });
});

test("Anthropic's tools of the client are functions with their documented inputs, called by their own names", () => {
  const tools = [
    { type: "bash_20250124", name: "bash" },
    { type: "text_editor_20250728", name: "str_replace_based_edit_tool", max_characters: 10 },
    { type: "text_editor_20250124", name: "str_replace_editor" },
    { type: "memory_20250818", name: "memory" },
  ];
  const { chat, answered } = substituted(
    { messages: [{ role: "user", content: "hello" }], tools, tool_choice: { type: "tool", name: "bash" } },
    messagesTranslation,
  );
  const functions = functionsOf(chat);
  expect(functions.map(({ name }) => name)).toEqual([
    "bash",
    "str_replace_based_edit_tool",
    "str_replace_editor",
    "memory",
  ]);
  const commands = functions.map(({ parameters }) => JSON.stringify(parameters));
  expect(commands[1]).not.toContain("undo_edit");
  expect(commands[2]).toContain("undo_edit");
  expect(commands[3]).toContain("rename");
  expect(chat["tool_choice"]).toEqual({ type: "function", function: { name: "bash" } });
  const [whole] = answered("bash", '{"command":"ls"}');
  expect(whole["content"]).toMatchObject([{ type: "tool_use", name: "bash", input: { command: "ls" } }]);
});

test("a search of X that xAI has run is no call for clients of other dialects", () => {
  const call = { type: "custom_tool_call", id: "ctc", call_id: "xs_call_1", name: "x_keyword_search", input: "{}" };
  const events = [
    { type: "response.created", response: { id: "r" } },
    { type: "response.output_item.added", output_index: 0, item: { ...call, input: "" } },
    { type: "response.custom_tool_call_input.delta", output_index: 0, delta: "{}" },
    { type: "response.output_item.done", output_index: 0, item: call },
    { type: "response.completed", response: { status: "completed", output: [call] } },
  ];
  const reader = responsesTranslation.streamReader(chatUpstream);
  const [choice] = collectAnswer(events.flatMap((event) => [...reader.read(JSON.stringify(event))])).choices;
  expect(choice).toMatchObject({ blocks: [{ kind: "native", value: call }], stop: { reason: "end" } });
});
