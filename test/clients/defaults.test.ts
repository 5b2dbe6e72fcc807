/** The requests of clients by their defaults, on providers that refuse, ignore or say it in another way. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { deflateSync, gzipSync } from "node:zlib";
import {
  chatPath,
  chunksOf,
  lastReceived,
  messagesPath,
  post,
  responsesPath,
  type Rig,
  simulatedKey,
  startRig,
  until,
} from "../kit/index.ts";

type Json = Record<string, unknown>;

let rig: Rig;
let token: string;
beforeAll(async () => {
  rig = await startRig({
    config: {
      upstream: { retries: 0 },
      models: { aliases: { "claude-*": "anthropic/claude-*", fast: "openai/gpt-5-mini" } },
      pricing: { models: { "*": { input_mtok: 1, output_mtok: 2, web_searches_kcount: 1 } } },
    },
    providers: ({ providers }) => ({
      "chat-only": { kind: "openai", base_url: providers.openai, api_key: simulatedKey, dialects: ["chat"] },
    }),
  });
  ({ token } = await rig.caller());
});
afterEach(() => rig.expectBalancedBooks());
afterAll(() => rig.stop());

const user = (content: string): Json => ({ role: "user", content });
const ask = (path: string, body: Json, headers: Record<string, string> = {}) =>
  post(rig, path, token, body, { headers });

/** The request that the provider got, for one that succeeded. */
async function sent(path: string, body: Json, headers: Record<string, string> = {}): Promise<Json & { path: string }> {
  const answer = await ask(path, body, headers);
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  const received = lastReceived(rig);
  return { ...(JSON.parse(received.body) as Json), path: received.path };
}

describe("OpenAI's models that think", () => {
  test("get the limit by its new name, and no sampling that they refuse", async () => {
    const body = { model: "openai/gpt-5-mini", messages: [user("hi")], max_tokens: 50, temperature: 0.2, top_p: 0.9 };
    const got = await sent(chatPath, body);
    expect(got).toMatchObject({ model: "gpt-5-mini", max_completion_tokens: 50 });
    expect(Object.keys(got)).not.toContain("max_tokens");
    expect(Object.keys(got).filter((name) => name === "temperature" || name === "top_p")).toEqual([]);
    const both = await sent(chatPath, { ...body, max_completion_tokens: 40 });
    expect([both["max_tokens"], both["max_completion_tokens"]]).toEqual([undefined, 40]);
  });

  test("keep sampling where they take it, and others keep everything", async () => {
    const body = { messages: [user("hi")], max_tokens: 50, temperature: 0.2 };
    expect(await sent(chatPath, { ...body, model: "openai/gpt-5.2" })).toMatchObject({ temperature: 0.2 });
    expect(await sent(chatPath, { ...body, model: "openai/gpt-4o-mini" })).toMatchObject(body);
  });

  test("also in Responses and from Messages", async () => {
    const model = "openai/gpt-5-mini";
    expect(await sent(responsesPath, { model, input: "hi", temperature: 0.2 })).not.toHaveProperty("temperature");
    const body = { model, max_tokens: 50, temperature: 0.2, messages: [user("hi")] };
    expect(await sent(messagesPath, body)).not.toHaveProperty("temperature");
  });
});

describe("roles and efforts", () => {
  const messages = [{ role: "developer", content: "Be brief." }, user("hi")];

  test.each(["deepseek/deepseek-chat", "mistral/mistral-small-latest", "google/gemini-2.5-flash"])(
    "a developer is the system of %s",
    async (model) => {
      const got = await sent(chatPath, { model, messages, later: 1 });
      expect(got["messages"]).toMatchObject([{ role: "system", content: "Be brief." }, user("hi")]);
    },
  );

  test("a developer stays one at OpenAI", async () => {
    expect(await sent(chatPath, { model: "openai/gpt-4o-mini", messages })).toMatchObject({ messages });
  });

  test.each([
    ["google/gemini-2.5-flash", "xhigh", "high"],
    ["mistral/mistral-small-latest", "low", "none"],
    ["openai/o4-mini", "max", "high"],
    ["openai/gpt-5-mini", "minimal", "minimal"],
  ])("%s gets the effort %s as %s", async (model, reasoning_effort, expected) => {
    const got = await sent(chatPath, { model, messages: [user("hi")], reasoning_effort });
    expect(got["reasoning_effort"]).toBe(expected);
  });
});

describe("functions in chat, at models of OpenAI that take them in Responses", () => {
  const tools = [{ type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } }];
  const body = { model: "openai/gpt-5.5", messages: [user("call:look {}")], tools };

  test("go there, and nothing is stored", async () => {
    const got = await sent(chatPath, { ...body, store: true });
    expect([got.path, got["store"]]).toEqual(["/openai/v1/responses", false]);
  });

  test("are called in streams of chat", async () => {
    const answer = await ask(chatPath, { ...body, stream: true });
    expect([answer.status, answer.headers.get("x-tollgate-changes")]).toEqual([200, "chat-tools"]);
    const text = await answer.text();
    expect(text).toContain('"name":"look"');
    expect(text).toContain('"finish_reason":"tool_calls"');
  });

  test("stay in chat if the model is asked not to think, or if the operator allows nothing else", async () => {
    expect((await sent(chatPath, { ...body, reasoning_effort: "none" })).path).toEndWith("/chat/completions");
    const answer = await ask(chatPath, { ...body, model: "chat-only/gpt-5.5" });
    expect([answer.status, lastReceived(rig).path]).toEqual([400, "/openai/v1/chat/completions"]);
  });

  test.each([[{ n: 2 }], [{ stop: ["x"] }], [{ logit_bias: { 5: 1 } }]])("%j is refused by name", async (member) => {
    const answer = await ask(chatPath, { ...body, ...member });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ error: { param: Object.keys(member)[0] } });
  });
});

describe("structured output", () => {
  const schema = {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  };
  const chatFormat = { type: "json_schema", json_schema: { name: "place", schema } };
  const city = { city: "sample city" };

  async function chatted(model: string, response_format: Json): Promise<unknown> {
    const answer = await ask(chatPath, { model, messages: [user("as json")], response_format });
    const { choices } = (await answer.json()) as { choices: { message: { content: string } }[] };
    return JSON.parse(choices[0]?.message.content ?? "");
  }

  test.each(["anthropic/claude-haiku-4-5", "deepseek/deepseek-chat", "openai/gpt-4o-mini"])(
    "by a schema from %s, through chat and Responses",
    async (model) => {
      expect(await chatted(model, chatFormat)).toEqual(city);
      const text = { format: { type: "json_schema", name: "place", schema } };
      const response = await ask(responsesPath, { model, input: "as json", text });
      const { output } = (await response.json()) as { output: { content?: { text: string }[] }[] };
      expect(JSON.parse(output.at(-1)?.content?.[0]?.text ?? "")).toEqual(city);
    },
  );

  test("without a schema is asked of Anthropic in the prompt, in Messages", async () => {
    const messages = [user("as json")];
    const got = await sent(chatPath, {
      model: "anthropic/claude-haiku-4-5",
      messages,
      response_format: { type: "json_object" },
    });
    expect(got.path).toEndWith("/v1/messages");
    expect(JSON.stringify(got["system"])).toContain("one JSON object and nothing else");
  });

  test("of an older model is asked for in the prompt", async () => {
    const model = "anthropic/claude-sonnet-4-20250514";
    const got = await sent(chatPath, { model, messages: [user("hi")], response_format: chatFormat });
    expect(got).not.toHaveProperty("output_config.format");
    expect(JSON.stringify(got["system"])).toContain("JSON Schema");
  });

  test("anything else stays at Anthropic's chat endpoint", async () => {
    const got = await sent(chatPath, {
      model: "anthropic/claude-haiku-4-5",
      messages: [user("hi")],
      response_format: { type: "text" },
    });
    expect(got.path).toEndWith("/v1/chat/completions");
  });
});

describe("the tools of Codex", () => {
  const inner = (name: string): Json => ({ type: "function", name, parameters: { type: "object", properties: {} } });
  const tools = [
    inner("shell"),
    { type: "namespace", name: "agents", description: "d", tools: [inner("close"), inner("shell")] },
    { type: "web_search" },
  ];

  test.each(["deepseek/deepseek-chat", "anthropic/claude-haiku-4-5", "byteplus/seed-1-6-250915"])(
    "in a namespace are called by it at %s, and hosted ones left out where there are none",
    async (model) => {
      const asked = { role: "user", content: "call:close {}\ncall:agents__shell {}" };
      const first = await ask(responsesPath, { model, input: [asked], tools });
      const dropped = model.startsWith("byteplus") ? null : "web_search";
      expect([first.status, first.headers.get("x-tollgate-dropped-tools")]).toEqual([200, dropped]);
      const { output } = (await first.json()) as { output: Json[] };
      const called = output.find(({ type }) => type === "function_call");
      expect(called).toMatchObject({ namespace: "agents", name: "close" });
      const result = { type: "function_call_output", call_id: called?.["call_id"], output: "closed" };
      const stream = await ask(responsesPath, { model, input: [asked, ...output, result], tools, stream: true });
      const text = await stream.text();
      expect(stream.headers.get("x-tollgate-dropped-tools")).toBe(dropped);
      expect(text).toContain('"name":"shell","namespace":"agents"');
    },
  );

  test("are passed to OpenAI as they are", async () => {
    expect(await sent(responsesPath, { model: "openai/gpt-5-mini", input: "hi", tools })).toMatchObject({ tools });
  });

  test("that are demanded and hosted nowhere are refused, naming the tool and the way out", async () => {
    const body = { model: "deepseek/deepseek-chat", input: "hi", tools, tool_choice: { type: "web_search" } };
    const answer = await ask(responsesPath, body);
    expect(answer.status).toBe(422);
    expect(await answer.text()).toMatch(/tool_choice: .* has no web_search.*Let the model choose/);
  });
});

describe("Google's chat streams", () => {
  const fn = { name: "f", parameters: { type: "object", properties: {} } };
  const body = {
    model: "google/gemini-2.5-flash",
    messages: [user("parallel")],
    stream: true,
    tools: [{ type: "function", function: fn }],
  };

  test("have an index for each call, and the reason tool_calls", async () => {
    const chunks = chunksOf(await (await ask(chatPath, body)).text()) as unknown as {
      choices: { delta: { tool_calls?: Json[] }; finish_reason?: string }[];
      usage?: unknown;
    }[];
    const calls = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    expect(calls.map(({ index }) => index)).toEqual([0, 1]);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("tool_calls");
    expect(chunks.filter(({ usage }) => usage !== undefined)).toEqual([]);
  });

  test("have the usage once, at the end, for who asks", async () => {
    const asked = { ...body, stream_options: { include_usage: true } };
    const chunks = chunksOf(await (await ask(chatPath, asked)).text()) as unknown as {
      choices: unknown[];
      usage?: Json;
    }[];
    expect(chunks.map(({ usage }) => usage !== undefined)).toEqual([...chunks.slice(1).map(() => false), true]);
    expect(chunks.at(-1)?.choices).toEqual([]);
  });
});

describe("a model", () => {
  test("by an alias of the operator is the one behind it", async () => {
    expect(await sent(chatPath, { model: "fast", messages: [user("hi")] })).toMatchObject({ model: "gpt-5-mini" });
    const body = { max_tokens: 20, messages: [user("hi")] };
    expect(await sent(messagesPath, { ...body, model: "claude-haiku-4-5" })).toMatchObject({
      model: "claude-haiku-4-5",
    });
    expect((await ask(messagesPath, { ...body, model: "gemini" })).status).toBe(404);
  });

  test("has the name that Claude Code asked for in its answer, and the provider's for everybody else", async () => {
    const model = "anthropic/claude-haiku-4-5";
    for (const stream of [false, true]) {
      for (const [agent, shown] of [
        ["claude-cli/2.1.197 (external, cli)", model],
        ["anthropic-sdk", "claude-haiku-4-5"],
      ] as const) {
        const body = { model, max_tokens: 20, stream, messages: [user("hi")] };
        const text = await (await ask(messagesPath, body, { "user-agent": agent })).text();
        expect(/"model":"([^"]*)"/.exec(text)?.[1]).toBe(shown);
      }
    }
  });
});

describe("a body", () => {
  const text = JSON.stringify({ model: "openai/gpt-4o-mini", messages: [user("hi")] });
  const compressed = (bytes: Buffer, encoding: string): Promise<Response> =>
    fetch(rig.gateway.url + chatPath, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", "content-encoding": encoding },
      body: Uint8Array.from(bytes),
    });

  test("may be compressed", async () => {
    expect((await compressed(gzipSync(text), "gzip")).status).toBe(200);
    expect((await compressed(deflateSync(text), "deflate")).status).toBe(200);
    expect((await compressed(Buffer.from(text), "gzip")).status).toBe(422);
    expect((await compressed(Buffer.from(text), "br")).status).toBe(422);
  });

  test("is bounded as inflated", async () => {
    const bomb = gzipSync(Buffer.alloc(40 * 1_048_576, " "));
    expect(bomb.length).toBeLessThan(100_000);
    expect((await compressed(bomb, "gzip")).status).toBe(413);
  });

  test("without a field is told that it is missing", async () => {
    const messageOf = async (body: Json): Promise<string> => {
      const { error } = (await (await ask(chatPath, body)).json()) as { error: { message: string } };
      return error.message;
    };
    expect(await messageOf({ messages: [user("hi")] })).toBe("model: is missing");
    expect(await messageOf({ model: "openai/gpt-4o-mini" })).toBe("messages: is missing");
    expect(await messageOf({ model: 5, messages: [user("hi")] })).toBe("model: must be a string, not a number");
  });
});

test("a refusal of the operator's key is told as the provider's, and logged as an error", async () => {
  const answer = await ask(chatPath, { model: "openai/gpt-4o-mini+status-401", messages: [user("hi")] });
  expect([answer.status, answer.headers.get("x-tollgate-error-source")]).toEqual([502, "upstream"]);
  const lines = await until("the refusal is logged", () => {
    const found = rig.gateway.logLines().filter(({ msg }) => String(msg).startsWith("the provider refuses the key"));
    return found.length > 0 && found;
  });
  expect(lines).toMatchObject([{ level: 50, provider: "openai", status: 401 }]);
  const own = await post(rig, chatPath, "nonsense", { model: "openai/gpt-4o-mini", messages: [user("hi")] });
  expect([own.status, own.headers.get("x-tollgate-error-source")]).toEqual([401, null]);
});
