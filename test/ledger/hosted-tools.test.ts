/** Tools that run at a provider: held at their most, charged by the counts of the answer, and left out if they have no price. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chatPath,
  expectCleanAudit,
  type Gateway,
  responsesPath,
  type ScriptedUpstream,
  startGateway,
  startScriptedUpstream,
} from "../kit/index.ts";

let upstream: ScriptedUpstream;
let gateway: Gateway;
let token: string;
beforeAll(async () => {
  upstream = startScriptedUpstream();
  const provider = { base_url: upstream.url, api_key: "unused" };
  gateway = await startGateway({
    providers: {
      openai: { kind: "openai", ...provider },
      anthropic: { kind: "anthropic", ...provider },
      byteplus: { kind: "byteplus", ...provider },
      google: { kind: "google", ...provider },
      xai: { kind: "xai", ...provider },
      openrouter: { kind: "openai-compatible", preset: "openrouter", ...provider },
      groq: { kind: "openai-compatible", preset: "groq", ...provider },
      mistral: { kind: "openai-compatible", preset: "mistral", ...provider },
      moonshot: { kind: "openai-compatible", preset: "moonshot", ...provider },
    },
    config: {
      pricing: {
        models: {
          "openrouter/plain": { input_mtok: 1, output_mtok: 10, web_searches_kcount: 20 },
          "*/plain": { input_mtok: 1, output_mtok: 10 },
          // As docs/money.md has it.
          "byteplus/seed-*": { web_searches_kcount: 5 },
        },
      },
    },
  });
  token = await gateway.token({ user: "ann", credits: 1_000_000_000_000n });
});
afterAll(async () => {
  await expectCleanAudit(gateway);
  expect(await gateway.stop()).toBe(0);
  await upstream.stop();
});

async function call(path: string, body: object, by = token): Promise<{ answer: Response; text: string }> {
  const answer = await fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${by}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { answer, text: await answer.text() };
}

/** The credits of a call by its record. */
async function recorded({ headers }: Response): Promise<unknown> {
  const answer = await fetch(`${gateway.url}/v1/generations/${headers.get("x-request-id")}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return ((await answer.json()) as { credits?: unknown }).credits;
}

const creditsOf = ({ headers }: Response): number => Number(headers.get("x-tollgate-credits"));

/** The last body that the upstream has got. */
const sent = (): Record<string, unknown> =>
  JSON.parse(upstream.requests.at(-1)?.body ?? "{}") as Record<string, unknown>;

const usage = { input_tokens: 100, output_tokens: 10, total_tokens: 110 };

function response(more: object): Response {
  return Response.json({
    id: "resp_1",
    object: "response",
    status: "completed",
    model: "m",
    output: [],
    usage,
    ...more,
  });
}

describe("a hosted shell", () => {
  const tools = [{ type: "shell", environment: { type: "container_auto", memory_limit: "64g" } }];
  const request = { model: "openai/gpt-5-nano", max_output_tokens: 100, store: false, input: "list", tools };
  const inShell = (container_id: string) => ({
    id: "sh_1",
    type: "shell_call",
    call_id: "call_1",
    status: "completed",
    action: { commands: ["ls"] },
    environment: { type: "container_reference", container_id },
  });

  test("is held and charged by its memory", async () => {
    let containers = 0;
    upstream.answerWith(() => response({ tools, output: [inShell(`cntr_${(containers += 1)}`)] }));
    const poor = await gateway.token({ user: "two-containers", credits: 4_000_000_000n });
    const statuses: number[] = [];
    for (let index = 0; index < 4; index += 1) statuses.push((await call(responsesPath, request, poor)).answer.status);
    // Each costs 64 × 0.03 and a few tokens.
    expect(statuses).toEqual([200, 200, 402, 402]);
    expect(upstream.requests).toHaveLength(2);
  });

  test("in a container that the request names costs none", async () => {
    const named = [{ type: "shell", environment: { type: "container_reference", container_id: "cntr_of_ann" } }];
    upstream.answerWith(() => response({ tools, output: [inShell("cntr_of_ann")] }));
    const first = await call(responsesPath, request);
    expect(creditsOf(first.answer)).toBeWithin(1.92, 1.921);
    upstream.answerWith(() => response({ tools: named, output: [inShell("cntr_of_ann")] }));
    const second = await call(responsesPath, { ...request, tools: named });
    expect([second.answer.status, creditsOf(second.answer) < 0.001]).toEqual([200, true]);
  });

  test("in a container that an earlier answer to the same user has begun is not charged again", async () => {
    upstream.answerWith(() => response({ id: "resp_first", tools, output: [inShell("cntr_kept")] }));
    expect(creditsOf((await call(responsesPath, { ...request, store: true })).answer)).toBeWithin(1.92, 1.921);
    const goesOn = { ...request, store: true, previous_response_id: "resp_first" };
    const both = [inShell("cntr_kept"), inShell("cntr_second")];
    upstream.answerWith(() => response({ id: "resp_second", tools, output: [inShell("cntr_kept")] }));
    const again = await call(responsesPath, goesOn);
    expect([again.answer.status, creditsOf(again.answer) < 0.001]).toEqual([200, true]);
    upstream.answerWith(() => response({ id: "resp_third", tools, output: both }));
    expect(creditsOf((await call(responsesPath, goesOn)).answer)).toBeWithin(1.92, 1.921);

    const done = {
      type: "response.completed",
      response: { id: "resp_4", status: "completed", usage, tools, output: both },
    };
    upstream.answerWith(
      () => new Response(`data: ${JSON.stringify(done)}\n\n`, { headers: { "content-type": "text/event-stream" } }),
    );
    const { answer } = await call(responsesPath, { ...goesOn, stream: true });
    expect(await recorded(answer)).toBeLessThan(0.001);

    // Of another user it is new: nobody else can have begun it.
    upstream.answerWith(() => response({ id: "resp_5", tools, output: [inShell("cntr_kept")] }));
    const other = await gateway.token({ user: "other", credits: 10_000_000_000n });
    expect(creditsOf((await call(responsesPath, request, other)).answer)).toBeWithin(1.92, 1.921);
  });

  test("with a memory that has no price is refused by name", async () => {
    upstream.answerWith(() => response({}));
    const unknown = [{ type: "shell", environment: { type: "container_auto", memory_limit: "1t" } }];
    const { answer, text } = await call(responsesPath, { ...request, tools: unknown });
    expect([answer.status, upstream.requests.length]).toEqual([422, 0]);
    expect(text).toContain('memory_limit \\"1t\\" of shell');
  });
});

test("OpenAI's tier fast is its priority, by another name", async () => {
  upstream.answerWith(() => response({ service_tier: "priority" }));
  const ask = { model: "openai/gpt-6-astra", input: "hi", max_output_tokens: 16, service_tier: "fast" };
  const { answer } = await call(responsesPath, ask);
  // Twice 100 × 10 + 10 × 50 per million.
  expect([answer.status, creditsOf(answer)]).toEqual([200, 0.003]);
  expect(sent()["service_tier"]).toBe("fast");
});

describe("a search by the tool of the preview", () => {
  const output = [{ type: "web_search_call", action: { type: "search", query: "x" } }];
  const tools = [{ type: "web_search_preview" }];

  test.each<[string, string, number]>([
    // 100 × 2.5 + 10 × 10 per million, and 25 or 10 per thousand.
    ["openai/gpt-4o", "web_search_preview", 0.02535],
    ["openai/gpt-4o", "web_search", 0.01035],
    // 100 × 0.05 + 10 × 0.4 per million.
    ["openai/gpt-5-nano", "web_search_preview", 0.010009],
  ])("of %s by %s is charged at its own price", async (model, type, credits) => {
    upstream.answerWith(() => response({ tools: [{ type }], output }));
    const { answer } = await call(responsesPath, { model, input: "hi", tools: [{ type }], max_tool_calls: 1 });
    expect(creditsOf(answer)).toBe(credits);
  });

  test("is held at its own price", async () => {
    upstream.answerWith(() => response({ tools, output }));
    const poor = await gateway.token({ user: "one-preview", credits: 40_000_000n });
    const ask = { model: "openai/gpt-4o", max_output_tokens: 16, input: "hi", max_tool_calls: 1 };
    expect((await call(responsesPath, { ...ask, tools, max_tool_calls: 2 }, poor)).answer.status).toBe(402);
  });
});

test("BytePlus's search is sent and charged once the operator has given it a price", async () => {
  upstream.answerWith(() => response({ usage: { ...usage, tool_usage: { web_search: 2 } } }));
  const tools = [{ type: "web_search", limit: 5 }];
  const { answer } = await call(responsesPath, { model: "byteplus/seed-1-8", input: "news", tools });
  expect([answer.status, answer.headers.get("x-tollgate-dropped-tools")]).toEqual([200, null]);
  expect(sent()).toMatchObject({ tools, max_tool_calls: 3 });
  expect(upstream.requests.at(-1)?.headers.get("ark-beta-web-search")).toBe("true");
  // 2 searches, and 110 tokens at the list price of the model.
  expect(creditsOf(answer)).toBeCloseTo(0.01 + 100 * 0.25e-6 + 10 * 2e-6, 9);
});

describe("a tool without a price", () => {
  const f = { type: "function", name: "f", description: 'with "quotes" and 1.0', parameters: { type: "object" } };
  const unknown = { type: "search_of_tomorrow", size: 1.0 };

  beforeAll(() => upstream.answerWith(() => response({})));

  test.each<[string, string, object, object[]]>([
    ["unknown to everybody", "openai/gpt-5-nano", unknown, [unknown, f]],
    ["known, of a model without its price", "byteplus/plain", { type: "web_search" }, [f, { type: "web_search" }]],
  ])("%s, is left out and named", async (_title, model, { type }: { type?: string }, tools) => {
    upstream.answerWith(() => response({}));
    const { answer } = await call(responsesPath, { model, input: "hi", tools, tool_choice: "auto", unknown_field: 1 });
    expect([answer.status, answer.headers.get("x-tollgate-dropped-tools")]).toEqual([200, type ?? null]);
    expect(sent()).toMatchObject({ tools: [f], tool_choice: "auto", unknown_field: 1 });
  });

  test("leaves nothing behind that is only valid beside tools", async () => {
    upstream.answerWith(() => response({}));
    const body = { model: "openai/gpt-5-nano", input: "hi", tool_choice: "auto", parallel_tool_calls: true };
    const { answer } = await call(responsesPath, { ...body, tools: [unknown] });
    expect(answer.status).toBe(200);
    for (const name of ["tools", "tool_choice", "parallel_tool_calls"]) expect(sent()).not.toHaveProperty(name);
  });

  test("is named in a stream too", async () => {
    const done = { type: "response.completed", response: { id: "resp_1", output: [], usage, status: "completed" } };
    const headers = { "content-type": "text/event-stream" };
    upstream.answerWith(() => new Response(`data: ${JSON.stringify(done)}\n\n`, { headers }));
    const { answer } = await call(responsesPath, {
      model: "openai/gpt-5-nano",
      input: "hi",
      stream: true,
      tools: [unknown],
    });
    expect([answer.status, answer.headers.get("x-tollgate-dropped-tools")]).toEqual([200, "search_of_tomorrow"]);
  });

  test("is left out of a translated request", async () => {
    upstream.answerWith(() => response({}));
    const developer = [{ role: "developer", content: "Be brief." }];
    const { answer } = await call(responsesPath, {
      model: "byteplus/plain",
      input: developer,
      tools: [f, { type: "web_search" }, { type: "namespace", name: "n", tools: [{ ...f, name: "g" }] }],
    });
    expect([answer.status, answer.headers.get("x-tollgate-dropped-tools")]).toEqual([200, "web_search"]);
    expect(sent()["tools"]).toMatchObject([{ name: "f" }, { name: "g" }]);
  });

  test.each<[string, object]>([
    ["required, without another", { tools: [unknown], tool_choice: "required" }],
    ["chosen", { tools: [f, unknown], tool_choice: { type: unknown.type } }],
    [
      "one of the allowed",
      { tools: [f, unknown], tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: unknown.type }] } },
    ],
  ])("%s, is refused", async (_title, body) => {
    upstream.answerWith(() => response({}));
    const { answer, text } = await call(responsesPath, { model: "openai/gpt-5-nano", input: "hi", ...body });
    expect([answer.status, upstream.requests.length]).toEqual([422, 0]);
    expect(text).toContain("search_of_tomorrow");
    expect(text).toContain('"param":"tool_choice"');
  });

  test("does not hinder a function that is required", async () => {
    upstream.answerWith(() => response({}));
    const tools = [f, unknown];
    const { answer } = await call(responsesPath, {
      model: "openai/gpt-5-nano",
      input: "hi",
      tools,
      tool_choice: "required",
    });
    expect(answer.status).toBe(200);
    expect(sent()).toMatchObject({ tools: [f], tool_choice: "required" });
  });
});

describe("a search that every answer of chat makes", () => {
  const counts = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };
  const choices = [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }];
  const completion = (model: string, more: object) => ({
    id: "c",
    object: "chat.completion",
    model,
    choices,
    usage: { ...counts, ...more },
  });
  const searching = { messages: [{ role: "user", content: "hi" }], max_tokens: 200 };
  const demanded = { ...searching, web_search_options: {} };
  const plugin = { ...searching, plugins: [{ id: "web" }] };
  const byTool = { ...searching, tools: [{ type: "openrouter:web_search" }] };

  test.each<[string, object, object, number]>([
    // 1,000 × 2.5 + 100 × 10 per million, and 25 per thousand.
    ["openai/gpt-4o-search-preview", searching, {}, 0.0285],
    // The same tokens, and 10 per thousand.
    ["openai/gpt-4o", demanded, {}, 0.0135],
    // 1,000 × 1 + 100 × 10 per million, and 20 per thousand.
    ["openrouter/plain", plugin, {}, 0.022],
    ["openrouter/plain", plugin, { server_tool_use_details: { web_search_requests: 1 } }, 0.022],
    ["openrouter/plain", byTool, { server_tool_use_details: { web_search_requests: 3 } }, 0.062],
    ["openrouter/plain", byTool, {}, 0.002],
    ["openrouter/plain", plugin, { cost: 0.03 }, 0.03],
  ])("is charged with it: %s %j %j", async (model, body, told, credits) => {
    upstream.answerWith(() => Response.json(completion("any", told)));
    const whole = await call(chatPath, { model, ...body });
    expect([whole.answer.status, creditsOf(whole.answer)]).toEqual([200, credits]);
    const events = [
      { choices: [{ index: 0, delta: { content: "Hi." } }] },
      { choices: [], usage: { ...counts, ...told } },
    ];
    const sse = `${events.map((event) => `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", ...event })}\n\n`).join("")}data: [DONE]\n\n`;
    upstream.answerWith(() => new Response(sse, { headers: { "content-type": "text/event-stream" } }));
    const streamed = await call(chatPath, { model, ...body, stream: true });
    expect(await recorded(streamed.answer)).toBe(credits);
  });

  test("is charged for an answer that counts nothing", async () => {
    upstream.answerWith(() => Response.json({ ...completion("any", {}), usage: undefined }));
    const { answer } = await call(chatPath, { model: "openai/gpt-4o", ...demanded });
    expect(creditsOf(answer)).toBeWithin(0.01, 0.0101);
  });
});

describe("a provider's own tool in chat", () => {
  const messages = [{ role: "user", content: "hi" }];
  const f = { type: "function", function: { name: "f" } };
  const choices = [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }];
  const answer = () => Response.json({ id: "c", object: "chat.completion", model: "m", choices });

  test.each<[string, object, string]>([
    ["google", { google_search: {} }, "google_search"],
    ["groq", { type: "browser_search" }, "browser_search"],
    ["groq", { type: "code_interpreter" }, "code_interpreter"],
    ["mistral", { type: "web_search" }, "web_search"],
    ["moonshot", { type: "builtin_function", function: { name: "$web_search" } }, "$web_search"],
    ["xai", { type: "live_search" }, "live_search"],
    ["openai", { type: "web_search" }, "web_search"],
  ])("of %s, %j, is left out", async (provider, tool, name) => {
    upstream.answerWith(answer);
    const { answer: got } = await call(chatPath, { model: `${provider}/plain`, messages, tools: [tool, f] });
    expect([got.status, got.headers.get("x-tollgate-dropped-tools")]).toEqual([200, name]);
    expect(sent()["tools"]).toEqual([f]);
  });

  test.each<[string, object, string]>([
    ["google", { extra_body: { google: { tools: [{ google_search: {} }] } } }, "extra_body.google.tools"],
    ["google", { web_search_options: {} }, "web_search_options"],
    ["xai", { search_parameters: { mode: "on" } }, "search_parameters"],
    ["mistral", { web_search_options: {} }, "web_search_options"],
    ["groq", { tools: [{ type: "browser_search" }], tool_choice: "required" }, "tool_choice"],
  ])("of %s that %j demands is refused", async (provider, demand, param) => {
    upstream.answerWith(answer);
    const { answer: got, text } = await call(chatPath, { model: `${provider}/plain`, messages, ...demand });
    expect([got.status, upstream.requests.length]).toEqual([422, 0]);
    expect(JSON.parse(text)).toMatchObject({ error: { param } });
  });
});
