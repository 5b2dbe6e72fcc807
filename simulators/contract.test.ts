import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { type Simulators, startSimulators } from "./index.ts";
import {
  chat,
  type Chunk,
  chunksOf,
  completionOf,
  eventData,
  get,
  post,
  type Usage,
  weatherTool,
} from "./testing/client.ts";
import { type Profile, profiles } from "./testing/profiles.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

const weather = { city: "sample city", days: 1 };

interface JoinedCall {
  id: string;
  name: string;
  arguments: string;
}

/** Joins streamed tool calls by their index, or by order without one. */
function joinToolCalls(chunks: readonly Chunk[]): JoinedCall[] {
  const joined: JoinedCall[] = [];
  for (const delta of chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.delta))) {
    for (const call of delta.tool_calls ?? []) {
      const place = call.index ?? joined.length;
      const known = (joined[place] ??= { id: call.id ?? "", name: call.function.name ?? "", arguments: "" });
      known.arguments += call.function.arguments;
    }
  }
  return joined;
}

function joinText(chunks: readonly Chunk[], index = 0): string {
  const choices = chunks.flatMap((chunk) => chunk.choices.filter((choice) => choice.index === index));
  return choices.map((choice) => (typeof choice.delta.content === "string" ? choice.delta.content : "")).join("");
}

function lastUsage(chunks: readonly Chunk[]): Usage | undefined {
  return chunks.map((chunk) => chunk.usage).findLast((usage) => usage !== null && usage !== undefined) ?? undefined;
}

function finishOf(chunks: readonly Chunk[]): string | undefined {
  const reasons = chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.finish_reason));
  return reasons.findLast((reason) => typeof reason === "string") ?? undefined;
}

describe.each(profiles.map((profile) => [profile.name, profile] as const))("%s", (_name, profile: Profile) => {
  const url = (): string => simulators.providers[profile.name] + profile.chatPath;
  const ask = (content: string, more: object = {}) => post(url(), chat(profile.model, content, more));
  const streamed = { stream: true, ...(profile.usageByOption ? { stream_options: { include_usage: true } } : {}) };

  test("a plain answer echoes the last user text and counts tokens", async () => {
    const reply = await ask("hello simulator");
    expect(reply.status).toBe(200);
    expect(reply.headers.get("content-type")).toStartWith("application/json");
    const completion = completionOf(reply);
    expect(completion).toMatchObject({ object: "chat.completion", model: profile.model });
    expect(completion.choices).toHaveLength(1);
    expect(completion.choices[0]?.message).toMatchObject({ role: "assistant" });
    expect(completion.choices[0]?.message.content).toContain("hello simulator");
    expect(completion.choices[0]?.finish_reason).toBe("stop");
    // 15 characters are 4 tokens, and a message costs 3.
    expect(completion.usage).toMatchObject({ prompt_tokens: 7, completion_tokens: 11, total_tokens: 18 });
  });

  test("a stream has the content of the plain answer, with one id, usage and [DONE]", async () => {
    const plain = completionOf(await ask("hello simulator"));
    const reply = await ask("hello simulator", streamed);
    expect(reply.headers.get("content-type")).toStartWith("text/event-stream");
    expect(eventData(reply.text).at(-1)).toBe("[DONE]");
    const chunks = chunksOf(reply);
    expect(new Set(chunks.map((chunk) => `${chunk.object} ${chunk.id} ${chunk.created} ${chunk.model}`)).size).toBe(1);
    expect(chunks[0]).toMatchObject({ object: "chat.completion.chunk", model: profile.model });
    expect(chunks[0]?.choices[0]?.delta.role).toBe("assistant");
    expect(joinText(chunks)).toBe(plain.choices[0]?.message.content ?? "");
    expect(finishOf(chunks)).toBe("stop");
    expect(lastUsage(chunks)).toEqual(plain.usage);
  });

  test("usage is streamed only when asked, where asking is possible", async () => {
    const chunks = chunksOf(await ask("hello", { stream: true }));
    expect(lastUsage(chunks) === undefined).toBe(profile.usageByOption);
  });

  test("the same request gets the same bytes", async () => {
    const twice = await Promise.all([ask("again", streamed), ask("again", streamed)]);
    expect(twice[0].text).toBe(twice[1].text);
    const plain = await Promise.all([ask("again", { tools: [weatherTool] }), ask("again", { tools: [weatherTool] })]);
    expect(plain[0].text).toBe(plain[1].text);
    expect(completionOf(plain[0]).id).not.toBe(completionOf(await ask("other")).id);
  });

  test("max_tokens ends the answer with finish reason length", async () => {
    const completion = completionOf(await ask("words:50", { max_tokens: 7 }));
    expect(completion.choices[0]?.message.content?.split(" ")).toHaveLength(7);
    expect(completion.choices[0]?.finish_reason).toBe("length");
    expect(completion.usage.completion_tokens).toBe(7);
    const chunks = chunksOf(await ask("words:50", { max_tokens: 7, ...streamed }));
    expect([finishOf(chunks), lastUsage(chunks)?.completion_tokens]).toEqual(["length", 7]);
  });

  test("words:N answers exactly N words, one an event", async () => {
    const chunks = chunksOf(await ask("please words:120", streamed));
    expect(joinText(chunks).split(" ")).toHaveLength(120);
    expect(chunks.filter((chunk) => chunk.choices.some((choice) => choice.delta.content)).length).toBe(120);
    expect(lastUsage(chunks)?.completion_tokens).toBe(120);
  });

  test("stop ends the answer before the stop word", async () => {
    const completion = completionOf(await ask("one two three", { stop: ["two", "three"] }));
    expect(completion.choices[0]?.message.content).toBe("You said: one");
    expect(completion.choices[0]?.finish_reason).toBe("stop");
  });

  test("a tool is called with arguments that fit its schema", async () => {
    const completion = completionOf(await ask("weather?", { tools: [weatherTool] }));
    const [call, ...more] = completion.choices[0]?.message.tool_calls ?? [];
    expect(more).toEqual([]);
    expect(call).toMatchObject({ type: "function", function: { name: "get_weather" } });
    expect(call?.id).toMatch(/^[\w-]{9,}$/);
    expect(JSON.parse(call?.function.arguments ?? "")).toEqual(weather);
    expect(completion.choices[0]?.finish_reason).toBe("tool_calls");
    expect(completion.usage.completion_tokens).toBeGreaterThan(0);
  });

  test("streamed parallel calls equal those of the plain answer", async () => {
    const tools = [weatherTool, { ...weatherTool, function: { ...weatherTool.function, name: "get_time" } }];
    const chunks = chunksOf(await ask("both in parallel", { tools, ...streamed }));
    const calls = joinToolCalls(chunks);
    expect(calls.map((call) => call.name)).toEqual(["get_weather", "get_time"]);
    expect(calls.map((call): unknown => JSON.parse(call.arguments))).toEqual([weather, weather]);
    expect(new Set(calls.map((call) => call.id)).size).toBe(2);
    expect(finishOf(chunks)).toBe(profile.toolFinish);
    const deltas = chunks.flatMap((chunk) => chunk.choices.flatMap((choice) => choice.delta.tool_calls ?? []));
    expect(deltas.every((call) => (call.index === undefined) === !profile.toolIndex)).toBe(true);
  });

  test("tool_choice names a tool or forbids all", async () => {
    const tools = [weatherTool, { ...weatherTool, function: { ...weatherTool.function, name: "get_time" } }];
    const named = completionOf(
      await ask("x", { tools, tool_choice: { type: "function", function: { name: "get_time" } } }),
    );
    expect(named.choices[0]?.message.tool_calls?.map((call) => call.function.name)).toEqual(["get_time"]);
    const none = completionOf(await ask("x", { tools, tool_choice: "none" }));
    expect(none.choices[0]?.message.tool_calls ?? null).toBeNull();
    expect(none.choices[0]?.message.content).toContain("You said: x");
  });

  test("a tool's result is quoted in the next answer", async () => {
    const first = completionOf(await ask("weather?", { tools: [weatherTool] })).choices[0]?.message;
    const tool_call_id = first?.tool_calls?.[0]?.id;
    const messages = [
      { role: "user", content: "weather?" },
      { role: "assistant", content: "", tool_calls: first?.tool_calls },
      { role: "tool", tool_call_id, content: "18 degrees" },
    ];
    const reply = await post(url(), { model: profile.model, messages, tools: [weatherTool] });
    expect(completionOf(reply).choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { content: "The tool answered: 18 degrees" },
    });
  });

  test("response_format produces JSON, or the provider's substitute", async () => {
    const schema = weatherTool.function.parameters;
    const response_format = { type: "json_schema", json_schema: { name: "weather", schema, strict: true } };
    const reply = await ask("as json", { response_format });
    if (profile.jsonSchema) {
      expect(JSON.parse(completionOf(reply).choices[0]?.message.content ?? "")).toEqual(weather);
    } else {
      // Anthropic's layer ignores the format, DeepSeek refuses schemas.
      expect(reply.text).toContain(profile.name === "anthropic" ? "You said: as json" : "response_format");
    }
  });

  test("n gives that many different choices, or is refused or ignored", async () => {
    const reply = await ask("hi", { n: 2 });
    if (profile.choices) {
      const { choices } = completionOf(reply);
      expect(choices.map((choice) => choice.index)).toEqual([0, 1]);
      expect(choices[0]?.message.content).not.toBe(choices[1]?.message.content ?? "");
      const chunks = chunksOf(await ask("hi", { n: 2, ...streamed }));
      expect([joinText(chunks, 0), joinText(chunks, 1)]).toEqual(choices.map((choice) => choice.message.content ?? ""));
    } else if (profile.name === "deepseek") {
      expect(completionOf(reply).choices).toHaveLength(1);
    } else {
      expect(reply.status).toBe(400);
    }
  });

  test("a missing or refused key is answered as this provider does", async () => {
    const body = JSON.stringify(chat(profile.model, "hi"));
    const missing = await fetch(url(), { method: "POST", body });
    expect(missing.status).toBe(profile.statuses.keyMissing);
    expect(profile.errorMessage(await missing.json())).toBeString();
    const refused = await post(url(), body, { authorization: "Bearer bad-key" });
    expect(refused.status).toBe(profile.statuses.keyInvalid);
    expect(profile.errorMessage(JSON.parse(refused.text))).toBeString();
  });

  test("wrong shapes are refused in the provider's own format", async () => {
    const { fieldMissing } = profile.statuses;
    const bodies: readonly [body: unknown, status: number | null][] = [
      [{ messages: [{ role: "user", content: "hi" }] }, fieldMissing],
      [{ model: profile.model }, fieldMissing],
      [{ model: profile.model, messages: [] }, null],
      [chat(profile.model, "hi", { max_tokens: "many" }), null],
      [{ model: profile.model, messages: [{ role: "wizard", content: "hi" }] }, null],
      [{ model: profile.model, messages: [{ role: "user" }] }, null],
      ["{not json", null],
    ];
    for (const [body, status] of bodies) {
      const reply = await post(url(), body);
      expect([400, 422]).toContain(reply.status);
      if (status !== null) expect(reply.status).toBe(status);
      expect(profile.errorMessage(JSON.parse(reply.text))).toBeString();
    }
  });

  test("a model that does not exist is the provider's error, any other is answered", async () => {
    const missing = await post(url(), chat("missing-model", "hi"));
    expect(missing.status).toBe(profile.statuses.modelUnknown);
    expect(profile.errorMessage(JSON.parse(missing.text))).toContain("missing-model");
    expect((await post(url(), chat("brand-new-model", "hi"))).status).toBe(200);
  });

  test.each([400, 401, 403, 404, 422, 429, 500, 503, 529])(
    "status-%i has the provider's error body",
    async (status) => {
      const reply = await post(url(), chat(`${profile.model}+status-${status}`, "hi"));
      expect(reply.status).toBe(status);
      expect(profile.errorMessage(JSON.parse(reply.text))).toBeString();
    },
  );

  test("error-N puts the provider's error into the stream", async () => {
    const reply = await post(url(), chat(`${profile.model}+error-2`, "words:9", streamed));
    expect(reply.status).toBe(200);
    const data = eventData(reply.text);
    expect(data).toHaveLength(3);
    const body: unknown = JSON.parse(data[2] ?? "");
    // Google's array is left out in streams.
    expect(profile.errorMessage(profile.name === "google" ? [body] : body)).toBeString();
  });

  test("long system prompts count as cached", async () => {
    const system = "s".repeat(4_100);
    const messages = [
      { role: "system", content: system },
      { role: "user", content: "hi" },
    ];
    const reply = await post(url(), { model: profile.model, messages });
    expect(completionOf(reply).usage.prompt_tokens).toBe(Math.ceil(4_102 / 4) + 6);
    const cachedIsTold = !["anthropic", "google"].includes(profile.name);
    expect(reply.text.includes(":1025")).toBe(cachedIsTold);
  });

  test("models are listed, or there is no such path", async () => {
    const path = profile.modelsPath ?? "/models";
    const reply = await get(simulators.providers[profile.name] + path, { ...profile.listHeaders });
    if (profile.modelsPath === null) {
      expect(reply.status).toBe(404);
      return;
    }
    expect(reply.status).toBe(200);
    const ids = profile.listedIds(JSON.parse(reply.text));
    expect(ids.length).toBeGreaterThanOrEqual(4);
    expect(new Set(ids).size).toBe(ids.length);
    expect((await get(`${simulators.providers[profile.name]}/nowhere`)).status).toBe(404);
  });
});
