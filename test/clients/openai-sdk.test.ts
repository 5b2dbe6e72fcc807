/** The official SDK, with nothing changed but `baseURL` and `apiKey`. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { type Caller, chatModels, eachProvider, type Rig, sorted, startRig, until } from "../kit/index.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    config: { server: { body_limit: "64KiB" }, upstream: { retries: 0, idle_timeout: "1s" } },
    providers: () => ({ down: { kind: "openai", base_url: "http://127.0.0.1:9/v1", api_key: "unused" } }),
  });
});
beforeEach(() => rig.simulators.clear());
afterEach(() => rig.expectBalancedBooks());
afterAll(() => rig.stop());

/** An ordinary client; without its own retries if a test counts calls or expects an error. */
function clientFor(token: string, options: { maxRetries?: number } = {}): OpenAI {
  return new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey: token, ...options });
}

async function newClient(): Promise<{ client: OpenAI; caller: Caller }> {
  const caller = await rig.caller();
  return { caller, client: clientFor(caller.token, { maxRetries: 0 }) };
}

type Messages = OpenAI.Chat.ChatCompletionMessageParam[];
type Chunk = OpenAI.Chat.ChatCompletionChunk;

const hello: Messages = [{ role: "user", content: "Hello!" }];
const helloAnswer = "You said: Hello!. That is all I have to say.";
const wordy: Messages = [{ role: "user", content: "words:40" }];

const weather: OpenAI.Chat.ChatCompletionTool = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Weather of a city",
    parameters: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer", minimum: 1, maximum: 7 } },
      required: ["city", "days"],
    },
  },
};
const askWeather: Messages = [{ role: "user", content: "Weather in Paris?" }];

interface Call {
  id: string;
  name: string;
  arguments: string;
}

/** Tool calls put together from their pieces: Google sends them whole and without an index. */
function reassemble(chunks: readonly Chunk[]): Call[] {
  const calls: Call[] = [];
  for (const piece of chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? [])) {
    const position = (piece.index as number | undefined) ?? calls.length;
    const call = (calls[position] ??= { id: "", name: "", arguments: "" });
    call.id += piece.id ?? "";
    call.name += piece.function?.name ?? "";
    call.arguments += piece.function?.arguments ?? "";
  }
  return calls;
}

async function collect(stream: AsyncIterable<Chunk>): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

/** Mistral's error in a stream is a chunk without choices. */
const textOf = (chunks: readonly Partial<Chunk>[]): string =>
  chunks.map((chunk) => chunk.choices?.[0]?.delta.content ?? "").join("");

describe.each(Object.entries(chatModels))("%s", (provider, model) => {
  test("chat", async () => {
    const { client } = await newClient();
    const answer = await client.chat.completions.create({ model, messages: hello });
    expect(answer.object).toBe("chat.completion");
    expect(answer.model).toBe(model.slice(provider.length + 1));
    expect(answer.choices[0]?.message).toMatchObject({ role: "assistant", content: helloAnswer });
    expect(answer.choices[0]?.finish_reason).toBe("stop");
    expect(answer.usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 10, total_tokens: 15 });
    // oxlint-disable-next-line no-underscore-dangle -- the SDK's own name
    expect(answer._request_id).toMatch(/^req_/);
  });

  test("streamed chat, its usage hidden as it was not asked for", async () => {
    const { client, caller } = await newClient();
    const chunks = await collect(await client.chat.completions.create({ model, messages: hello, stream: true }));
    expect(textOf(chunks)).toBe(helloAnswer);
    expect(chunks.length).toBeGreaterThan(9);
    expect(chunks.every((chunk) => chunk.choices.length === 1)).toBe(true);
    expect(
      chunks
        .filter((chunk) => (chunk.choices[0]?.finish_reason ?? null) !== null)
        .map((chunk) => chunk.choices[0]?.finish_reason),
    ).toEqual(["stop"]);
    expect(await caller.closed()).toBeGreaterThan(0n);
  });

  test("include_usage: the usage is seen", async () => {
    const { client } = await newClient();
    const stream = await client.chat.completions.create({
      model,
      messages: hello,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await collect(stream);
    const usage = chunks.findLast((chunk) => (chunk.usage ?? null) !== null)?.usage;
    expect(usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 10, total_tokens: 15 });
    const alone = chunks.filter((chunk) => chunk.choices.length === 0);
    // Mistral reports it along with the text, and so does Google; the gateway moves Google's to the end.
    expect(alone).toHaveLength(provider === "mistral" ? 0 : 1);
    expect(textOf(chunks)).toBe(helloAnswer);
  });

  test("tool calls, streamed and not, and the way back with the tool's answer", async () => {
    const { client } = await newClient();
    const asked = { model, messages: askWeather, tools: [weather] };
    const answer = await client.chat.completions.create(asked);
    expect(answer.choices[0]?.finish_reason).toBe("tool_calls");
    const [call] = answer.choices[0]?.message.tool_calls ?? [];
    if (call?.type !== "function") throw new Error("no function was called");
    expect(call.function.name).toBe("get_weather");
    const input = JSON.parse(call.function.arguments) as Record<string, unknown>;
    expect(typeof input["city"]).toBe("string");
    expect(input["days"]).toBeWithin(1, 8);

    const chunks = await collect(await client.chat.completions.create({ ...asked, stream: true }));
    const [streamed, ...others] = reassemble(chunks);
    expect(others).toEqual([]);
    expect(streamed).toMatchObject({ name: "get_weather", arguments: call.function.arguments });
    expect(streamed?.id).not.toBe("");

    const message = answer.choices[0]?.message;
    if (message === undefined) throw new Error("no message");
    const replied = await client.chat.completions.create({
      ...asked,
      messages: [...askWeather, message, { role: "tool", tool_call_id: call.id, content: "sunny" }],
    });
    expect(replied.choices[0]?.message.content).toBe("The tool answered: sunny");
  });

  test("several tool calls at once", async () => {
    const { client } = await newClient();
    const clock: OpenAI.Chat.ChatCompletionTool = {
      type: "function",
      function: { name: "get_time", parameters: { type: "object", properties: {} } },
    };
    const messages: Messages = [{ role: "user", content: "In parallel, please." }];
    const stream = await client.chat.completions.create({ model, messages, tools: [weather, clock], stream: true });
    expect(reassemble(await collect(stream)).map((call) => call.name)).toEqual(["get_weather", "get_time"]);
  });
});

test("the SDK's own helper for streams puts text and tool calls together", async () => {
  const { client } = await newClient();
  const run = client.chat.completions.stream({ model: "openai/gpt-4o-mini", messages: askWeather, tools: [weather] });
  const final = await run.finalChatCompletion();
  expect(final.choices[0]?.message.tool_calls?.[0]).toMatchObject({
    type: "function",
    function: { name: "get_weather" },
  });
  const text = client.chat.completions.stream({ model: "anthropic/claude-haiku-4-5", messages: hello });
  expect(await text.finalContent()).toBe(helloAnswer);
});

test("a text with parts, a system prompt and unknown fields", async () => {
  const { client } = await newClient();
  const answer = await client.chat.completions.create({
    model: "xai/grok-4",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "Hello!" }] },
    ],
    search_parameters: { mode: "off" },
  } as OpenAI.Chat.ChatCompletionCreateParamsNonStreaming);
  expect(answer.choices[0]?.message.content).toBe(helloAnswer);
  expect(rig.simulators.requests()[0]?.body).toContain('"search_parameters":{"mode":"off"}');
});

test("the models list: prefixed ids of every provider, price and context length beside the usual fields", async () => {
  const { client } = await newClient();
  interface Listed extends OpenAI.Model {
    context_length: number | null;
    pricing: Record<string, number> | null;
  }
  const models: Listed[] = [];
  for await (const model of client.models.list()) models.push(model as Listed);
  const prefixes = new Set(models.map((model) => model.id.split("/")[0] ?? ""));
  expect(sorted(prefixes)).toEqual(sorted(Object.keys(chatModels)));
  expect(new Set(models.map((model) => model.id)).size).toBe(models.length);
  for (const model of models) {
    expect(model.object).toBe("model");
    expect(model.owned_by).not.toBe("");
    expect(model.created).toBeGreaterThanOrEqual(0);
    // Every model has the test's flat price.
    expect(model.pricing).toMatchObject({ input_mtok: 1, output_mtok: 2 });
  }
  // Under it lies the list price, and that of Anthropic has cache writes of two kinds, and searches.
  const claude = models.find((model) => model.id.startsWith("anthropic/claude-haiku-4-5"));
  const listPrices = { cache_read_mtok: 0.1, cache_write_mtok: 1.25, cache_write_1h_mtok: 2, web_searches_kcount: 10 };
  expect(claude?.pricing).toEqual({ input_mtok: 1, output_mtok: 2, ...listPrices });

  expect(models.find((model) => model.id === "google/gemini-2.5-flash")?.context_length).toBe(1_048_576);
  expect(models.filter((model) => model.context_length !== null).length).toBeGreaterThan(models.length / 2);
});

describe("errors become the SDK's own classes", () => {
  /** The error that a call throws. */
  async function errorOf(call: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
    const thrown: unknown = await call.then(
      () => "nothing was thrown",
      (reason: unknown) => reason,
    );
    if (!(thrown instanceof OpenAI.APIError)) throw new Error(`not an APIError: ${String(thrown)}`);
    return thrown;
  }

  const ask = (client: OpenAI, model = "openai/gpt-4o-mini"): Promise<unknown> =>
    client.chat.completions.create({ model, messages: hello });

  test.each([
    [400, OpenAI.BadRequestError],
    [403, OpenAI.PermissionDeniedError],
    [404, OpenAI.NotFoundError],
    [409, OpenAI.ConflictError],
    [422, OpenAI.UnprocessableEntityError],
    [429, OpenAI.RateLimitError],
    [500, OpenAI.InternalServerError],
    [502, OpenAI.InternalServerError],
    [503, OpenAI.InternalServerError],
  ])("an upstream's %d, streamed or not", async (status, errorClass) => {
    const { client, caller } = await newClient();
    const model = `openai/gpt-4o-mini+status-${status}`;
    const upstreams = await (await rig.direct("openai", { model: model.slice(7), messages: hello })).json();
    for (const stream of [false, true]) {
      const error = await errorOf(client.chat.completions.create({ model, messages: hello, stream }));
      expect(error).toBeInstanceOf(errorClass);
      expect(error.status).toBe(status);
      expect(error.error).toEqual((upstreams as { error: object }).error);
      expect(error.requestID).toMatch(/^req_/);
    }
    expect(await caller.closed()).toBe(0n);
  });

  test("401: a token that was never issued", async () => {
    const error = await errorOf(ask(clientFor("tg_nobody_0000000000000000", { maxRetries: 0 })));
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error).toMatchObject({ status: 401, code: "invalid_token", type: "invalid_request_error" });
  });

  test("402: not enough credits", async () => {
    const token = await rig.gateway.token({ user: "poor", credits: 1n });
    const error = await errorOf(ask(clientFor(token, { maxRetries: 0 })));
    expect(error).toMatchObject({ status: 402, code: "insufficient_credits" });
    expect(error.message).toContain("0.000000001 are left");
    expect(rig.simulators.total()).toBe(0);
  });

  test("404: no provider of that prefix", async () => {
    const { client } = await newClient();
    const error = await errorOf(ask(client, "nowhere/gpt-4o-mini"));
    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
    expect(error).toMatchObject({ status: 404, code: "model_not_routed", param: "model" });
  });

  test("413: a body over the limit", async () => {
    const { client } = await newClient();
    const messages: Messages = [{ role: "user", content: "x".repeat(70_000) }];
    const error = await errorOf(client.chat.completions.create({ model: "openai/gpt-4o-mini", messages }));
    expect(error).toMatchObject({ status: 413, code: "body_too_large" });
  });

  test("422: a field of the wrong type is named", async () => {
    const { client } = await newClient();
    const wrong = {
      model: "openai/gpt-4o-mini",
      messages: [{ role: 7, content: "x" }],
    } as unknown as OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;
    const error = await errorOf(client.chat.completions.create(wrong));
    expect(error).toBeInstanceOf(OpenAI.UnprocessableEntityError);
    expect(error).toMatchObject({ status: 422, code: "validation_failed", param: "messages.0.role" });
  });

  test("429: the wait that the upstream names is there to be read", async () => {
    const { client } = await newClient();
    const error = await errorOf(ask(client, "openai/gpt-4o-mini+status-429+retry-after-20"));
    expect(error.headers?.get("retry-after")).toBe("20");
  });

  test("502: an upstream that cannot be reached", async () => {
    const { client } = await newClient();
    const error = await errorOf(ask(client, "down/model"));
    expect(error).toBeInstanceOf(OpenAI.InternalServerError);
    expect(error).toMatchObject({ status: 502, code: "upstream_unreachable" });
  });

  test("the SDK's own retries work: the second call succeeds and only it is charged", async () => {
    const { caller } = await newClient();
    const client = clientFor(caller.token, { maxRetries: 1 });
    const answer = await client.chat.completions.create({
      model: "openai/gpt-4o-mini+status-503+times-1",
      messages: hello,
    });
    expect(answer.choices[0]?.message.content).toBe(helloAnswer);
    expect(rig.simulators.total()).toBe(2);
    expect(await caller.closed()).toBe(25_000n);
  });
});

describe("a stream that does not come to its end", () => {
  // Bun drops received but undelivered bytes when a connection is reset: the slower the events, the fewer can be in
  // transit then.
  test.each([
    ["cut-10", 20, 4],
    ["stall-10", 2, 8],
    ["error-10", 2, 8],
  ])("%s: the received events are read, then the SDK throws", (fault, pace, least) =>
    eachProvider(async (provider, model) => {
      const { client, caller } = await newClient();
      const stream = await client.chat.completions.create({
        model: `${model}+${fault}+pace-${pace}`,
        messages: wordy,
        stream: true,
      });
      const chunks: Chunk[] = [];
      const reading = (async () => {
        for await (const chunk of stream) chunks.push(chunk);
      })();
      const thrown: unknown = await reading.then(
        () => "nothing was thrown",
        (reason: unknown) => reason,
      );
      expect(thrown).toBeInstanceOf(OpenAI.APIError);
      const said = textOf(chunks).split(" ").length;
      // The simulators open with a chunk without text, Google does not.
      expect(said).toBeGreaterThanOrEqual(least);
      expect(said).toBeLessThanOrEqual(10);
      const spent = await caller.closed();
      // The upstream's own error makes it a failed call, which is free.
      if (fault.startsWith("error") && provider !== "mistral") expect(spent).toBe(0n);
      else expect(spent).toBeGreaterThan(0n);
      if (provider !== "xai") expect(spent).toBeLessThan(60_000n);
    }),
  );

  test("whose reader disconnects: the upstream is aborted and one charge is made for the observed usage", () =>
    eachProvider(async (provider, model) => {
      const { client, caller } = await newClient();
      const stream = await client.chat.completions.create({ model: `${model}+pace-20`, messages: wordy, stream: true });
      const seen: Chunk[] = [];
      for await (const chunk of stream) {
        seen.push(chunk);
        if (seen.length === 5) break;
      }
      const mine = (): string | undefined =>
        rig.simulators.requests().find((request) => request.provider === provider)?.outcome;
      await until("the upstream is left", () => mine() === "aborted");
      const spent = await caller.closed();
      expect(spent).toBeGreaterThan(0n);
      expect(spent).toBeLessThan(60_000n);
      const calls = await until("its log line", () => {
        const lines = rig.gateway.logLines().filter((line) => line["user"] === caller.user && line["msg"] === "call");
        return lines.length > 0 && lines;
      });
      expect(calls.map((call) => [call["outcome"], Math.round(Number(call["credits"]) * 1e9)])).toEqual([
        ["abandoned", Number(spent)],
      ]);
    }));

  test("aborted by a signal before it begins", async () => {
    const { client, caller } = await newClient();
    const leaving = new AbortController();
    const call = client.chat.completions.create(
      { model: "openai/gpt-4o-mini+slow-60000", messages: wordy, stream: true },
      { signal: leaving.signal },
    );
    const thrown = call.then(
      () => "nothing was thrown",
      (reason: unknown) => reason,
    );
    await until("the request is there", () => rig.simulators.total() === 1);
    leaving.abort();
    expect(await thrown).toBeInstanceOf(OpenAI.APIUserAbortError);
    await until("the upstream is left", () => rig.simulators.requests()[0]?.outcome === "aborted");
    // The upstream has received the request: its expected input, six tokens, is charged.
    expect(await caller.closed()).toBe(6_000n);
  });
});
