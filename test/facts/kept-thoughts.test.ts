/** Thoughts that DeepSeek demands back, of clients that lose them: the gateway keeps those before calls for a day. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chatPath,
  lastReceived,
  messagesPath,
  post,
  responsesPath,
  type Rig,
  startRig,
  tablesWith,
} from "../kit/index.ts";

type Json = Record<string, unknown>;

const model = "deepseek/deepseek-v4-pro";
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const hello = { role: "user", content: "What is the weather?" };

let rig: Rig;
let token: string;
beforeAll(async () => {
  rig = await startRig();
  ({ token } = await rig.caller());
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

interface Sent {
  body: Json;
  changes: string | null;
  answer: string;
}

async function ask(path: string, body: Json, as = token): Promise<Sent> {
  const answer = await post(rig, path, as, { model, ...body });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return {
    body: JSON.parse(lastReceived(rig).body) as Json,
    changes: answer.headers.get("x-tollgate-changes"),
    answer: text,
  };
}

/** Each client's requests, which return the calls of an answer without its thoughts. */
interface Client {
  path: string;
  first: Json;
  idOf(answer: string): string;
  next(callId: string): Json;
}

const idIn = (pattern: RegExp) => (answer: string) => pattern.exec(answer)?.[1] ?? "";

const chat: Client = {
  path: chatPath,
  first: {
    messages: [hello],
    reasoning_effort: "high",
    tools: [{ type: "function", function: { name: "f", parameters } }],
  },
  idOf: idIn(/"id":"(call_[^"]+)"/),
  next: (id) => ({
    messages: [
      hello,
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id, type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: id, content: "Sun." },
    ],
  }),
};

const messages: Client = {
  path: messagesPath,
  first: {
    max_tokens: 9_000,
    messages: [hello],
    thinking: { type: "enabled", budget_tokens: 5_000 },
    tools: [{ name: "f", input_schema: parameters }],
  },
  idOf: idIn(/"id":"(call_[^"]+)"/),
  next: (id) => ({
    messages: [
      hello,
      { role: "assistant", content: [{ type: "tool_use", id, name: "f", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "Sun." }] },
    ],
  }),
};

const responses: Client = {
  path: responsesPath,
  first: { input: [hello], reasoning: { effort: "high" }, tools: [{ type: "function", name: "f", parameters }] },
  idOf: idIn(/"call_id":"(call_[^"]+)"/),
  next: (call_id) => ({
    input: [
      hello,
      { type: "function_call", call_id, name: "f", arguments: "{}" },
      { type: "function_call_output", call_id, output: "Sun." },
    ],
  }),
};

/** The thought of the first answer, before its call, and whether the model still thinks. */
function thoughtsIn({ messages: sent, input, reasoning_effort, reasoning }: Json): string {
  expect([reasoning_effort, reasoning].filter(Boolean)).toHaveLength(1);
  const [, first, second, third] = (sent ?? input) as Json[];
  if (input === undefined) {
    expect(first).toMatchObject({ role: "assistant", tool_calls: [{ type: "function" }] });
    expect(second).toMatchObject({ role: "tool" });
    return String(first?.["reasoning_content"]);
  }
  expect(first).toMatchObject({ type: "reasoning", content: [{ type: "reasoning_text" }] });
  expect([second?.["type"], third?.["type"]]).toEqual(["function_call", "function_call_output"]);
  return JSON.stringify(first?.["content"]);
}

describe.each([
  ["chat", chat],
  ["messages", messages],
  ["responses", responses],
])("a client of %s", (_title, client) => {
  test.each([{}, { stream: true }])("gets its thoughts back to the model: %j", async (streamed) => {
    const { token: own } = await rig.caller();
    const first = await ask(client.path, { ...client.first, ...streamed }, own);
    const again = await ask(client.path, { ...client.first, ...client.next(client.idOf(first.answer)) }, own);
    expect(thoughtsIn(again.body)).toMatch(/\S{3}/);
    expect(again.body).not.toHaveProperty("thinking");
    expect(again.changes).toContain("thoughts");
  });

  test("another user's call, or an unknown one, goes without thinking", async () => {
    const { token: own } = await rig.caller();
    const { token: other } = await rig.caller();
    const first = await ask(client.path, client.first, own);
    for (const [id, as] of [
      [client.idOf(first.answer), other],
      ["call_unknown", own],
    ] as const) {
      const again = await ask(client.path, { ...client.first, ...client.next(id) }, as);
      expect(again.body["thinking"]).toEqual({ type: "disabled" });
      expect(JSON.stringify(again.body)).not.toContain("reasoning_content");
      expect(again.changes).toContain("thinking");
    }
  });
});

test.each([
  ["chat", chat],
  ["responses", responses],
])("a client of %s with store: false has nothing kept", async (_title, client) => {
  const { token: own } = await rig.caller();
  const first = await ask(client.path, { ...client.first, store: false }, own);
  const again = await ask(
    client.path,
    { ...client.first, ...client.next(client.idOf(first.answer)), store: false },
    own,
  );
  expect(again.body["thinking"]).toEqual({ type: "disabled" });
});

test("a thought that the client returns stays as it is, and is not replaced by the kept one", async () => {
  const { token: own } = await rig.caller();
  const first = await ask(chatPath, chat.first, own);
  const [question, answer, result] = chat.next(chat.idOf(first.answer))["messages"] as Json[];
  const mine = [question, { ...answer, reasoning_content: "Mine." }, result];
  const again = await ask(chatPath, { ...chat.first, messages: mine }, own);
  expect(again.body["messages"]).toEqual(mine);
  expect(again.changes).toBeNull();
});

test("an answer without calls has no name: with one in the history that has lost its thoughts, none is looked for", async () => {
  const { token: own } = await rig.caller();
  const first = await ask(chatPath, chat.first, own);
  const history = chat.next(chat.idOf(first.answer))["messages"] as Json[];
  const said = { role: "assistant", content: "It is sunny." };
  const again = await ask(chatPath, { ...chat.first, messages: [...history, said, hello] }, own);
  expect(again.body["thinking"]).toEqual({ type: "disabled" });
  expect(again.body["messages"]).toEqual([...history, said, hello]);
});

test("the storage does not show what is kept", async () => {
  const { token: own } = await rig.caller();
  const { answer } = await ask(chatPath, chat.first, own);
  const { choices } = JSON.parse(answer) as { choices: [{ message: { reasoning_content: string } }] };
  const thought = choices[0].message.reasoning_content;
  expect(thought.length).toBeGreaterThan(10);
  // Responses of the tests before are stored as they are.
  for (const text of [thought, chat.idOf(answer)])
    expect(await tablesWith(rig.gateway.storage, text)).not.toContain("kept_thoughts");
});
