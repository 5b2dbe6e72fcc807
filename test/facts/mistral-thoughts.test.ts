/** Mistral's models that think answer with a list as content. Clients of chat get a text, and return the thoughts apart. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import {
  chatPath,
  chunksOf,
  type Gateway,
  lastReceived,
  post,
  type Rig,
  type ScriptedUpstream,
  startGateway,
  startRig,
  startScriptedUpstream,
} from "../kit/index.ts";
import { bytesOf, recordings } from "../recordings/recordings.ts";

let rig: Rig;
let token: string;
let client: OpenAI;
beforeAll(async () => {
  rig = await startRig();
  ({ token } = await rig.caller());
  client = new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey: token, maxRetries: 0 });
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

interface Thinking {
  content: unknown;
  reasoning_content?: string;
}

const model = "mistral/magistral-medium-latest";
const hello = { role: "user" as const, content: "Hello." };
const tools = [
  { type: "function" as const, function: { name: "look_up", parameters: { type: "object", properties: {} } } },
];

describe.each([{ stream: false }, { stream: true }])("$stream", ({ stream }) => {
  test("the content is a text, and the thoughts stand beside it", async () => {
    const answer = await post(rig, chatPath, token, { model, messages: [hello], stream });
    expect(answer.headers.get("x-tollgate-changes")).toBe("answer");
    const said = await messageOf(answer, stream);
    expect(said.content).toBe("You said: Hello.. That is all I have to say.");
    expect(said.reasoning_content).toMatch(/\w/);
  });

  test("an SDK of Mistral's gets the list, byte for byte", async () => {
    const headers = { "user-agent": "mistral-client-typescript/2.7.0" };
    const answer = await post(rig, chatPath, token, { model, messages: [hello], stream }, { headers });
    expect(answer.headers.get("x-tollgate-changes")).toBeNull();
    const text = await answer.text();
    expect(text).toContain('"type":"thinking"');
    expect(text).not.toContain("reasoning_content");
  });
});

test("without thinking nothing is changed", async () => {
  const answer = await post(rig, chatPath, token, { model: "mistral/mistral-small-latest", messages: [hello] });
  expect(answer.headers.get("x-tollgate-changes")).toBeNull();
  const low = { model: "mistral/mistral-small-latest", messages: [hello], reasoning_effort: "low" };
  expect((await post(rig, chatPath, token, low)).headers.get("x-tollgate-changes")).toBe("efforts");
  const high = { ...low, reasoning_effort: "high" };
  expect((await post(rig, chatPath, token, high)).headers.get("x-tollgate-changes")).toBe("answer");
});

test("a loop of tools: the thoughts return as the part that they came in", async () => {
  const { choices } = await client.chat.completions.create({ model, messages: [hello], tools });
  const message = choices[0]?.message;
  const call = message?.tool_calls?.[0];
  const { reasoning_content: thought } = (message ?? {}) as unknown as Thinking;
  if (message === undefined || call === undefined) throw new Error("no call");
  const result = { role: "tool" as const, tool_call_id: call.id, content: "42" };
  const { response } = await client.chat.completions
    .create({ model, messages: [hello, message, result], tools })
    .withResponse();
  expect(response.headers.get("x-tollgate-changes")).toBe("answer, thoughts");
  const sent = JSON.parse(lastReceived(rig).body) as { messages: object[] };
  expect(sent.messages[1]).toEqual({
    role: "assistant",
    content: [
      { type: "thinking", thinking: [{ type: "text", text: thought }] },
      { type: "text", text: "" },
    ],
    tool_calls: [{ id: call.id, type: "function", function: call.type === "function" ? call.function : {} }],
  });
});

describe("recorded answers", () => {
  let upstream: ScriptedUpstream;
  let gateway: Gateway;
  beforeAll(async () => {
    upstream = startScriptedUpstream();
    const entry = { kind: "openai-compatible", preset: "mistral", base_url: upstream.url, api_key: "k" };
    gateway = await startGateway({ providers: { mistral: entry } });
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.stop();
  });

  const listed = recordings.filter(
    (one) => one.upstream === "mistral" && one.status === 200 && /"content": ?\[/.test(bytesOf(one).toString()),
  );

  test("there are some", () => {
    expect(listed).not.toEqual([]);
  });

  test.each(listed)("$id", async (recording) => {
    const { stream } = recording;
    const type = stream ? "text/event-stream" : "application/json";
    upstream.answerWith(() => new Response(bytesOf(recording), { headers: { "content-type": type } }));
    const answer = await fetch(gateway.url + chatPath, {
      method: "POST",
      headers: { authorization: `Bearer ${await gateway.token()}`, "content-type": "application/json" },
      body: JSON.stringify({ model, messages: [hello], stream }),
    });
    const { content, reasoning_content: thought } = await messageOf(answer, stream);
    expect(content).toBeString();
    expect(thought).toMatch(/\w/);
  });
});

/** The message of an answer, its deltas joined. */
async function messageOf(answer: Response, stream: boolean): Promise<Thinking> {
  if (!stream)
    return ((await answer.json()) as { choices: { message: Thinking }[] }).choices[0]?.message ?? { content: null };
  const deltas = chunksOf(await answer.text()).flatMap(({ choices }) => choices.map(({ delta }) => delta as Thinking));
  const lists = deltas.filter(({ content }) => Array.isArray(content));
  return {
    content:
      lists.length > 0 ? lists : deltas.map(({ content }) => (typeof content === "string" ? content : "")).join(""),
    reasoning_content: deltas.map(({ reasoning_content: thought = "" }) => thought).join(""),
  };
}
