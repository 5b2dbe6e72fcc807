/** Google's clients: their SDK, Vercel's, and requests as others send them, in front of models of several providers. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { type ApiError, GoogleGenAI, type Part, Type } from "@google/genai";
import { generateText, Output, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import { type Rig, startRig } from "../kit/index.ts";
import { messagesOnly } from "./messages-only.ts";

let rig: Rig;
let token: string;
beforeAll(async () => {
  globalThis.AI_SDK_LOG_WARNINGS = false;
  rig = await startRig({ config: { upstream: { retries: 0 } }, providers: messagesOnly });
  ({ token } = await rig.caller());
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

const google = (version?: string) =>
  new GoogleGenAI({
    apiKey: token,
    httpOptions: { baseUrl: rig.gateway.url, ...(version === undefined ? {} : { apiVersion: version }) },
  });

const model = "openai/gpt-4o-mini";
const body = { contents: [{ role: "user", parts: [{ text: "Hello" }] }] };
const text = "You said: Hello. That is all I have to say.";

interface Answered {
  status: number;
  value: {
    candidates?: { content: { parts: Part[] }; finishReason: string }[];
    error?: { code: number; status: string; message: string };
  };
}

async function post(
  path: string,
  sent: unknown = body,
  headers: Record<string, string> = { "x-goog-api-key": token },
): Promise<Answered> {
  const answer = await fetch(rig.gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(sent),
  });
  return { status: answer.status, value: (await answer.json()) as Answered["value"] };
}

const textOf = ({ value }: Answered): string =>
  (value.candidates ?? []).flatMap(({ content }) => content.parts.map((part) => part.text ?? "")).join("");

describe("the address of a method", () => {
  test.concurrent.each([
    `/v1beta/models/${model}`,
    `/v1/models/${model}`,
    `/v1beta1/models/${model}`,
    `/v1beta1/${model}`,
    `/v1beta/${model}`,
    `/v1/${model}`,
    `/v1beta/models/${encodeURIComponent(model)}`,
    `/v1beta/models%2F${encodeURIComponent(model)}`,
  ])("%s", async (path) => {
    expect(textOf(await post(`${path}:generateContent`))).toBe(text);
    expect(textOf(await post(`${path}%3AgenerateContent`))).toBe(text);
  });

  test("the model of the path counts, and not one of the body", async () => {
    const answered = await post(`/v1beta/models/${model}:generateContent`, {
      ...body,
      model: "models/other",
      stream: true,
    });
    expect(textOf(answered)).toBe(text);
    expect(answered.value.candidates).toHaveLength(1);
  });
});

describe("the token", () => {
  const path = `/v1beta/models/${model}:generateContent`;

  test("is in Google's header, in the address, or a bearer; an empty header is none", async () => {
    expect((await post(path, body, { "x-goog-api-key": token })).status).toBe(200);
    expect((await post(`${path}?key=${token}`, body, {})).status).toBe(200);
    expect((await post(path, body, { authorization: `Bearer ${token}`, "x-goog-api-key": "" })).status).toBe(200);
    expect(
      (await post(path, body, { authorization: `Bearer ${token}`, "x-goog-api-key": "AIza-of-google" })).status,
    ).toBe(200);
  });

  test("is never logged or repeated, wrong or right, in an address that exists or not", async () => {
    const wrong = `${token.slice(0, -4)}zzzz`;
    const [refused, unknown] = [
      await post(`${path}?key=${wrong}`, body, {}),
      await post(`/v1beta/nothing?key=${wrong}`, body, {}),
    ];
    expect([refused.status, unknown.status]).toEqual([401, 404]);
    expect(refused.value.error).toMatchObject({ code: 401, status: "UNAUTHENTICATED" });
    expect(JSON.stringify([refused, unknown])).not.toContain(wrong);
    expect(rig.gateway.log()).not.toContain(wrong);
    expect(rig.gateway.log()).not.toContain(token);
  });

  test("is missing", async () => {
    const { status, value } = await post(path, body, {});
    expect([status, value.error?.code, value.error?.status]).toEqual([401, 401, "UNAUTHENTICATED"]);
  });
});

describe("errors have Google's format, with the status as the number", () => {
  test.each<[string, string, unknown, number, string]>([
    ["an unknown model", "/v1beta/models/openai:generateContent", body, 404, "NOT_FOUND"],
    ["an unknown provider", "/v1beta/models/nobody/x:generateContent", body, 404, "NOT_FOUND"],
    ["a body without contents", `/v1beta/models/${model}:generateContent`, {}, 422, "INVALID_ARGUMENT"],
    [
      "an unknown part",
      `/v1beta/models/${model}:generateContent`,
      { contents: [{ parts: [{ hologram: {} }] }] },
      422,
      "INVALID_ARGUMENT",
    ],
    [
      "a result without its call",
      `/v1beta/models/${model}:generateContent`,
      { contents: [{ parts: [{ functionResponse: { name: "f", response: {} } }] }] },
      422,
      "INVALID_ARGUMENT",
    ],
    ["an upstream's error", `/v1beta/models/${model}+status-429:generateContent`, body, 429, "RESOURCE_EXHAUSTED"],
    ["files", "/upload/v1beta/files", {}, 404, "NOT_FOUND"],
    ["caches", "/v1beta/cachedContents", {}, 404, "NOT_FOUND"],
    ["batches", `/v1beta/models/${model}:batchGenerateContent`, body, 404, "NOT_FOUND"],
    ["predictions", `/v1/models/${model}:predict`, body, 404, "NOT_FOUND"],
  ])("%s", async (_, path, sent, code, status) => {
    const answered = await post(path, sent);
    expect(answered).toMatchObject({ status: code, value: { error: { code, status } } });
    expect(answered.value.error?.message).not.toBe("");
  });

  test("one in a stream is its last event", async () => {
    const stream = await google().models.generateContentStream({
      model: `${model}+error-12+pace-5`,
      contents: "words:40",
    });
    let seen = "";
    const failure = await (async () => {
      for await (const chunk of stream) seen += chunk.text ?? "";
      return undefined;
    })().catch((reason: unknown) => reason as ApiError);
    expect(seen).toStartWith("amber bridge");
    expect(failure?.status).toBeGreaterThanOrEqual(400);
  });

  test.each([
    ["/v1beta/interactions", "generateContent"],
    ["/v1beta/files", "inlineData"],
    [`/v1beta/models/${model}:batchGenerateContent`, "one by one"],
    [`/v1/models/${model}:predict`, "/v1/images/generations"],
    ["/v1beta/models/google/veo-3:predictLongRunning", "/v1/videos"],
  ])("for %s, what to do instead", async (path, advice) => {
    const { status, value } = await post(path, {});
    expect([status, value.error?.status]).toEqual([404, "NOT_FOUND"]);
    expect(value.error?.message).toContain(advice);
  });
});

describe("a stream", () => {
  const sent = async (query: string): Promise<string> => {
    const answer = await fetch(`${rig.gateway.url}/v1beta/models/${model}:streamGenerateContent${query}`, {
      method: "POST",
      headers: { "x-goog-api-key": token },
      body: JSON.stringify(body),
    });
    return answer.text();
  };

  test("is nothing but lines of data", async () => {
    expect(await sent("?alt=sse")).toMatch(/^(?:data: \{[^\n]*\}\n\n)+$/);
  });

  test("is a JSON list without alt=sse", async () => {
    const list = JSON.parse(await sent("")) as NonNullable<Answered["value"]>[];
    expect(list.length).toBeGreaterThan(2);
    expect(list.map((value) => textOf({ status: 200, value })).join("")).toBe(text);
    expect(list.at(-1)).toMatchObject({
      candidates: [{ finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 5 },
    });
  });

  test("is the same list again for a retry key, and charged once", async () => {
    const headers = { "x-goog-api-key": token, "idempotency-key": "list-again" };
    const ask = () =>
      fetch(`${rig.gateway.url}/v1beta/models/${model}:streamGenerateContent`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
    const [first, again] = [await (await ask()).text(), await (await ask()).text()];
    expect(JSON.parse(again)).toEqual(JSON.parse(first));
    const other = await fetch(`${rig.gateway.url}/v1beta/models/openai/gpt-5-mini:streamGenerateContent`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    expect(other.status).toBe(409);
  });
});

describe("requests as clients write them", () => {
  const ask = (sent: unknown) => post(`/v1beta/models/${model}:generateContent`, sent);

  test("in snake case, with one object for a list, and a prompt that is a text", async () => {
    const answered = await ask({
      system_instruction: "Be brief.",
      contents: { parts: { text: "words:40" } },
      generation_config: { max_output_tokens: 4, thinking_config: { thinking_level: "LOW" } },
      safety_settings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "OFF" }],
    });
    expect(answered.value.candidates?.[0]).toMatchObject({ finishReason: "MAX_TOKENS" });
    const request = rig.simulators.requests().findLast((one) => one.body.includes("Be brief."));
    expect(request?.body).not.toContain("HARM_CATEGORY");
  });

  test("calls without ids are matched by name and order", async () => {
    const call = (city: string) => ({ functionCall: { name: "get_weather", args: { city } } });
    const result = (degrees: string) => ({ functionResponse: { name: "get_weather", response: { result: degrees } } });
    const answered = await ask({
      contents: [
        { role: "user", parts: [{ text: "Weather?" }] },
        { role: "model", parts: [call("Oslo"), call("Rome")] },
        { role: "function", parts: [result("3 degrees"), result("30 degrees")] },
      ],
      tools: [
        {
          functionDeclarations: [
            { name: "get_weather", parameters: { type: "OBJECT", properties: { city: { type: "STRING" } } } },
          ],
        },
      ],
    });
    expect(textOf(answered)).toBe("The tool answered: 3 degrees. The tool answered: 30 degrees");
  });

  test("Google's own tools are left out, and named; one that is demanded is refused", async () => {
    const answer = await fetch(`${rig.gateway.url}/v1beta/models/${model}:generateContent`, {
      method: "POST",
      headers: { "x-goog-api-key": token },
      body: JSON.stringify({ ...body, tools: [{ googleSearch: {} }, { codeExecution: {} }] }),
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-tollgate-dropped-tools")).toBe("googleSearch, codeExecution");
  });

  test("a schema of a list is asked for in the prompt", async () => {
    const answered = await ask({
      contents: [{ parts: [{ text: "cities as a list" }] }],
      generationConfig: {
        responseMimeType: "application/json",
        responseSchema: { type: "ARRAY", items: { type: "STRING", nullable: true } },
      },
    });
    expect(answered.status).toBe(200);
    const request = rig.simulators.requests().findLast((one) => one.body.includes("cities as a list"));
    expect(request?.body).toContain(String.raw`{\"type\":\"array\",\"items\":{\"type\":[\"string\",\"null\"]}}`);
    expect(request?.body).not.toContain("response_format");
  });

  test("thoughts are hidden from a client that neither asks for them nor offers functions", async () => {
    const thinking = "native/claude-sonnet-4-6";
    const sent = {
      contents: [{ parts: [{ text: "Think." }] }],
      generationConfig: { thinkingConfig: { thinkingBudget: 2_000 } },
    };
    const [hidden, shown] = [
      await post(`/v1beta/models/${thinking}:generateContent`, sent),
      await post(`/v1beta/models/${thinking}:generateContent`, {
        ...sent,
        generationConfig: { thinkingConfig: { thinkingBudget: 2_000, includeThoughts: true } },
      }),
    ];
    const thoughts = ({ value }: Answered) =>
      (value.candidates?.[0]?.content.parts ?? []).filter((part) => part.thought === true);
    expect(thoughts(hidden).map((part) => part.text)).toEqual([""]);
    expect(thoughts(shown)[0]?.text).not.toBe("");
  });
});

describe("Google's SDK", () => {
  test.each(["google/gemini-3-flash-preview", "native/claude-haiku-4-5", "deepseek/deepseek-chat"])(
    "keeps a chat of several turns with %s",
    async (id) => {
      const chat = google().chats.create({ model: id });
      for await (const chunk of await chat.sendMessageStream({ message: "One" }))
        expect(chunk.modelVersion).not.toBe("");
      await chat.sendMessage({ message: "Two" });
      const history = chat.getHistory(true);
      // Each chunk of a stream is a content there.
      const roles = history.map(({ role }) => role).filter((role, index, all) => role !== all[index - 1]);
      expect(roles).toEqual(["user", "model", "user", "model"]);
      const answer = await chat.sendMessage({ message: "Three" });
      expect(answer.text).toBe("You said: Three. That is all I have to say.");
      expect(answer.usageMetadata?.promptTokenCount).toBeGreaterThan(10);
    },
  );

  test("declares a function with Google's schema, and forces it", async () => {
    const declaration = {
      name: "get_weather",
      description: "Weather",
      parameters: {
        type: Type.OBJECT,
        properties: { city: { type: Type.STRING, maxLength: "20" } },
        required: ["city"],
      },
    };
    const { functionCalls } = await google("v1beta").models.generateContent({
      model: "native/claude-haiku-4-5",
      contents: "Weather in Paris?",
      config: {
        tools: [{ functionDeclarations: [declaration] }],
        toolConfig: { functionCallingConfig: { mode: "ANY" as never, allowedFunctionNames: ["get_weather"] } },
      },
    });
    expect(functionCalls).toMatchObject([{ name: "get_weather", args: { city: "sample city" } }]);
    const request = rig.simulators.requests().findLast((one) => one.body.includes("Weather in Paris?"));
    expect(request?.body).toContain(
      '"input_schema":{"type":"object","properties":{"city":{"type":"string","maxLength":20}},"required":["city"]}',
    );
  });

  test("counts tokens", async () => {
    const { totalTokens } = await google().models.countTokens({ model, contents: "a text of some words" });
    expect(totalTokens).toBeGreaterThan(3);
    const whole = await post(`/v1beta/models/${model}:countTokens`, {
      generateContentRequest: {
        model: `models/${model}`,
        ...body,
        systemInstruction: { parts: [{ text: "long ".repeat(99) }] },
      },
    });
    expect((whole.value as { totalTokens?: number }).totalTokens).toBeGreaterThan(99);
  });

  test.each(["v1", "v1beta", "v1beta1"])("lists and finds models at %s", async (version) => {
    const ask = async (path: string): Promise<unknown> =>
      (await fetch(`${rig.gateway.url}/${version}/${path}`, { headers: { "x-goog-api-key": token } })).json();
    expect(await ask("models?pageSize=1")).toMatchObject({ models: [{ version: "001" }] });
    expect(await ask("models?pageSize=0")).toEqual(await ask("models"));
    expect(await ask("models/openai/text-embedding-3-small")).toMatchObject({
      supportedGenerationMethods: ["embedContent"],
    });
    for (const id of [model, encodeURIComponent(model)]) {
      expect(await ask(`models/${id}`)).toMatchObject({ name: `models/${model}` });
    }
    const escaped = encodeURIComponent(`models/${model}`);
    if (version !== "v1") expect(await ask(`models/${escaped}`)).toMatchObject({ name: `models/${model}` });
  });

  test("lists the models in pages, and finds one", async () => {
    const names: string[] = [];
    for await (const one of await google().models.list({ config: { pageSize: 7 } })) names.push(one.name ?? "");
    expect(names).toContain("models/openai/gpt-4o-mini");
    expect(new Set(names).size).toBe(names.length);
    expect(await google().models.get({ model })).toMatchObject({
      name: `models/${model}`,
      supportedActions: ["generateContent", "countTokens"],
    });
    expect(await google("v1beta").models.get({ model })).toMatchObject({ name: `models/${model}` });
    const listed = await fetch(`${rig.gateway.url}/v1/models`, { headers: { authorization: `Bearer ${token}` } });
    expect(await listed.json()).toHaveProperty("object", "list");
  });
});

describe("@ai-sdk/google", () => {
  const made = (id: string) => createGoogleGenerativeAI({ baseURL: `${rig.gateway.url}/v1beta`, apiKey: token })(id);

  test.each([model, "native/claude-haiku-4-5", "mistral/mistral-small-latest"])(
    "generates, streams and calls tools: %s",
    async (id) => {
      const {
        text: said,
        finishReason,
        usage,
      } = await generateText({ model: made(id), prompt: "Hello", maxRetries: 0 });
      expect([said, finishReason]).toEqual([text, "stop"]);
      expect(usage).toMatchObject({ inputTokens: 5, outputTokens: 10 });
      const cities: string[] = [];
      const result = streamText({
        model: made(id),
        prompt: "weather in steps:2",
        tools: {
          get_weather: tool({
            description: "Weather of a city",
            inputSchema: z.object({ city: z.string() }),
            execute: async ({ city }) => {
              cities.push(city);
              return "18 degrees";
            },
          }),
        },
        stopWhen: stepCountIs(4),
        maxRetries: 0,
      });
      let streamed = "";
      for await (const delta of result.textStream) streamed += delta;
      expect(streamed).toContain("18 degrees");
      expect(cities).toEqual(["sample city", "sample city"]);
    },
  );

  test("gets an object that fits its schema", async () => {
    const { output } = await generateText({
      model: made("openai/gpt-4o-mini"),
      prompt: "As JSON, please.",
      output: Output.object({ schema: z.object({ city: z.string() }) }),
      maxRetries: 0,
    });
    expect(output).toEqual({ city: "sample city" });
  });
});
