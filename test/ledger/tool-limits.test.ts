/** Hosted tools that a request does not limit: their runs are held, limited upstream and told, to what the credits pay for. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { resolve } from "node:path";
import {
  engines,
  expectCleanAudit,
  type Gateway,
  messagesPath,
  type PostgresServer,
  responsesPath,
  type ScriptedUpstream,
  startGateway,
  startPostgres,
  startScriptedUpstream,
  stopGateways,
  storageOn,
} from "../kit/index.ts";

const root = resolve(import.meta.dir, "../..");

let upstream: ScriptedUpstream;
let postgres: PostgresServer;
beforeAll(async () => {
  upstream = startScriptedUpstream();
  postgres = await startPostgres();
});
afterAll(async () => {
  await stopGateways();
  await upstream.stop();
  await postgres.stop();
});

interface SentBody {
  tools: { type: string; max_uses?: number }[];
  max_tool_calls?: number;
}

const bodyOf = ({ body }: { body: string }): SentBody => JSON.parse(body) as SentBody;
const lastSent = (): SentBody => bodyOf(upstream.requests.at(-1) ?? { body: "{}" });

function response(searches: number): Response {
  const output = Array.from({ length: searches }, () => ({ type: "web_search_call", action: { type: "search" } }));
  const usage = { input_tokens: 100, output_tokens: 10, total_tokens: 110, tool_usage: { web_search: searches } };
  return Response.json({ id: "resp_1", object: "response", status: "completed", model: "m", output, usage });
}

function message(searches: number): Response {
  const usage = { input_tokens: 100, output_tokens: 10, server_tool_use: { web_search_requests: searches } };
  const content = [{ type: "text", text: "Hi." }];
  const end = { stop_reason: "end_turn", stop_sequence: null };
  return Response.json({ id: "msg_1", type: "message", role: "assistant", model: "m", content, ...end, usage });
}

/** In credits; a search costs 0.01, and what is held beside it less than 0.003. */
const nanoOf = (credits: number): bigint => BigInt(Math.round(credits * 1e9));

const search = { type: "web_search" };
const webSearch = { type: "web_search_20250305", name: "web_search" };
const ownOf = (type: string): string =>
  `{ "type": "${type}", "name": "f", "strict": false, "parameters": {"type":"object", "minimum": 1.0} }`;

interface Provider {
  provider: string;
  path: string;
  tool: object;
  /** The type of a client's own tool. */
  ownType: string;
  ask: object;
  answer: (searches: number) => Response;
  limitOf: (sent: SentBody) => number | undefined;
}

const responsesAsk = { max_output_tokens: 300, store: false, input: "hi" };
const messagesAsk = { max_tokens: 300, messages: [{ role: "user", content: "hi" }], tools: [webSearch] };
const ofBody = (sent: SentBody): number | undefined => sent.max_tool_calls;
const providers: readonly Provider[] = [
  {
    provider: "openai",
    path: responsesPath,
    tool: search,
    ownType: "function",
    ask: responsesAsk,
    answer: response,
    limitOf: ofBody,
  },
  {
    provider: "byteplus",
    path: responsesPath,
    tool: search,
    ownType: "function",
    ask: responsesAsk,
    answer: response,
    limitOf: ofBody,
  },
  {
    provider: "anthropic",
    path: messagesPath,
    tool: webSearch,
    ownType: "custom",
    ask: { max_tokens: 300, messages: [{ role: "user", content: "hi" }] },
    answer: message,
    limitOf: ({ tools }) => tools.find(({ type }) => type === webSearch.type)?.max_uses,
  },
];

describe.each(engines)("on %s", (engine) => {
  let gateway: Gateway;
  beforeAll(async () => {
    const to = { base_url: upstream.url, api_key: "unused" };
    const price = { input_mtok: 0.05, output_mtok: 0.4, web_searches_kcount: 10 };
    gateway = await startGateway({
      ...(await storageOn(engine, postgres)),
      providers: {
        openai: { kind: "openai", ...to },
        byteplus: { kind: "byteplus", ...to },
        anthropic: { kind: "anthropic", ...to },
        xai: { kind: "xai", ...to },
        down: { kind: "openai", base_url: "http://127.0.0.1:9/v1", api_key: "unused" },
      },
      config: {
        pricing: { models: { "*/plain": price, "down/cheap": { ...price, web_searches_kcount: 1 } } },
        routing: { routes: { searching: { tiers: [[{ model: "down/cheap" }], [{ model: "byteplus/plain" }]] } } },
      },
    });
  });
  afterAll(async () => {
    await expectCleanAudit(gateway);
  });

  let users = 0;
  const tokenOf = (credits: number): Promise<string> => {
    users += 1;
    return gateway.token({ user: `user-${users}`, credits: nanoOf(credits) });
  };

  async function call(path: string, body: string | object, token: string): Promise<Response> {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const answer = await fetch(gateway.url + path, { method: "POST", headers, body: text });
    await answer.arrayBuffer();
    return answer;
  }

  const told = ({ status, headers }: Response): unknown[] => [status, headers.get("x-tollgate-max-tool-calls")];

  describe.each(providers)("of $provider", ({ provider, path, tool, ownType, ask, answer, limitOf }) => {
    const request = { model: `${provider}/plain`, ...ask, tools: [tool] };

    test.each([
      [0.05, 3],
      [0.025, 2],
      [0.0145, 1],
    ])("%d credits pay for %d searches", async (credits, runs) => {
      upstream.answerWith(() => answer(runs));
      const got = await call(path, request, await tokenOf(credits));
      expect(told(got)).toEqual([200, String(runs)]);
      expect(limitOf(lastSent())).toBe(runs);
      expect(Number(got.headers.get("x-tollgate-credits"))).toBeWithin(runs * 0.01, runs * 0.01 + 0.0001);
    });

    test("credits for none are refused before the call", async () => {
      upstream.answerWith(() => answer(0));
      expect((await call(path, request, await tokenOf(0.0103))).status).toBe(402);
      expect(upstream.requests).toEqual([]);
    });

    test("other tools keep their bytes", async () => {
      upstream.answerWith(() => answer(0));
      const own = ownOf(ownType);
      const text = JSON.stringify({ ...request, tools: ["OWN", tool] }).replace('"OWN"', own);
      expect(told(await call(path, text, await tokenOf(1)))).toEqual([200, "3"]);
      expect(upstream.requests.at(-1)?.body).toContain(own);
      expect(limitOf(lastSent())).toBe(3);
    });

    test("of racing calls none is allowed more than it has held", async () => {
      upstream.answerWith((sent) => answer(limitOf(bodyOf(sent)) ?? 10));
      const token = await tokenOf(0.1);
      const answers = await Promise.all(Array.from({ length: 12 }, () => call(path, request, token)));
      const held = answers.map((each) => Number(each.headers.get("x-tollgate-max-tool-calls") ?? 0));
      const paid = answers.map(({ headers }) => Number(headers.get("x-tollgate-credits")));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 402]));
      for (const [index, credits] of paid.entries()) expect(credits).toBeWithin(0, (held[index] ?? 0) * 0.01 + 0.0001);
      expect(paid.reduce((sum, credits) => sum + credits, 0)).toBeWithin(0.03, 0.1);
    });
  });

  test.each<[string, string, object]>([
    ["openai/gpt-5", responsesPath, { ...responsesAsk, tools: [search] }],
    ["openai/gpt-6.1-sol", responsesPath, { ...responsesAsk, tools: [search] }],
    ["anthropic/claude-haiku-4-5", messagesPath, messagesAsk],
    ["anthropic/claude-sonnet-4-6", messagesPath, messagesAsk],
  ])("0.05 credits are enough for one search by %s", async (model, path, ask) => {
    upstream.answerWith(() => (path === messagesPath ? message(1) : response(1)));
    const got = await call(path, { ...ask, model }, await tokenOf(0.05));
    expect(got.status).toBe(200);
    expect(Number(got.headers.get("x-tollgate-max-tool-calls"))).toBeGreaterThanOrEqual(1);
    expect(Number(got.headers.get("x-tollgate-credits"))).toBeWithin(0.01, 0.02);
  });

  test("a request's own limit stays as it is", async () => {
    upstream.answerWith(() => response(0));
    const ask = { model: "openai/plain", ...responsesAsk, tools: [search], max_tool_calls: 7 };
    expect(told(await call(responsesPath, ask, await tokenOf(1)))).toEqual([200, null]);
    expect(lastSent().max_tool_calls).toBe(7);
    expect((await call(responsesPath, ask, await tokenOf(0.05))).status).toBe(402);
    upstream.answerWith(() => message(0));
    const limited = { ...webSearch, max_uses: 5 };
    const messages = [{ role: "user", content: "hi" }];
    const other = { model: "anthropic/plain", max_tokens: 300, messages, tools: [limited] };
    expect(told(await call(messagesPath, other, await tokenOf(1)))).toEqual([200, null]);
    expect(lastSent().tools).toEqual([limited]);
  });

  test("null is no limit, and is replaced", async () => {
    upstream.answerWith(() => response(0));
    const ask = { model: "openai/plain", ...responsesAsk, tools: [search], max_tool_calls: null };
    expect(told(await call(responsesPath, ask, await tokenOf(1)))).toEqual([200, "3"]);
    expect(lastSent().max_tool_calls).toBe(3);
    upstream.answerWith(() => message(0));
    const messages = [{ role: "user", content: "hi" }];
    const tools = [{ ...webSearch, max_uses: null }];
    await call(messagesPath, { model: "anthropic/plain", max_tokens: 300, messages, tools }, await tokenOf(1));
    expect(upstream.requests.at(-1)?.body).toContain('"max_uses":3');
    expect(upstream.requests.at(-1)?.body).not.toContain('"max_uses":null');
  });

  test("a translated request is limited too", async () => {
    upstream.answerWith(() => response(0));
    const tools = [search, { type: "namespace", name: "n", tools: [{ type: "function", name: "g", parameters: {} }] }];
    const ask = { model: "byteplus/plain", ...responsesAsk, input: [{ role: "developer", content: "Hi." }], tools };
    expect(told(await call(responsesPath, ask, await tokenOf(1)))).toEqual([200, "3"]);
    expect(lastSent()).toMatchObject({ max_tool_calls: 3, tools: [{ type: "web_search" }, { name: "g" }] });
    const limited = await call(responsesPath, { ...ask, max_tool_calls: 2 }, await tokenOf(1));
    expect([...told(limited), lastSent().max_tool_calls]).toEqual([200, null, 2]);
  });

  test("a call that moves to another target gets the limit that its credits suffice for there", async () => {
    upstream.answerWith(() => response(2));
    const got = await call(
      responsesPath,
      { model: "searching", ...responsesAsk, tools: [search] },
      await tokenOf(0.025),
    );
    expect(told(got)).toEqual([200, "2"]);
    expect(lastSent().max_tool_calls).toBe(2);
    expect(Number(got.headers.get("x-tollgate-credits"))).toBeWithin(0.02, 0.0201);
  });

  test("tools without a fee, and containers, are not limited", async () => {
    upstream.answerWith(() => response(0));
    const tools = [
      JSON.parse(ownOf("custom")) as object,
      { type: "mcp", server_label: "s" },
      { type: "code_interpreter" },
    ];
    const ask = { model: "openai/gpt-5-nano", ...responsesAsk, tools };
    expect(told(await call(responsesPath, ask, await tokenOf(1)))).toEqual([200, null]);
    expect(lastSent()).not.toHaveProperty("max_tool_calls");
  });

  test("a provider without a field for a limit holds ten runs", async () => {
    upstream.answerWith(() => response(0));
    const ask = { model: "xai/plain", ...responsesAsk, tools: [search] };
    expect((await call(responsesPath, ask, await tokenOf(0.1))).status).toBe(402);
    expect(told(await call(responsesPath, ask, await tokenOf(0.11)))).toEqual([200, null]);
    expect(lastSent()).not.toHaveProperty("max_tool_calls");
  });
});

/** A model of the built-in catalog that sells searches, with its list prices in credits. */
interface Searcher {
  id: string;
  /** Of one search. */
  fee: number;
  /** Of a token. */
  input: number;
  output: number;
}

type Price = number | { base: number };
const perToken = (price: Price): number => (typeof price === "number" ? price : price.base) / 1e6;

async function searchers(provider: string): Promise<Searcher[]> {
  const { providers: listed } = (await Bun.file(`${root}/src/pricing/catalog/catalog.json`).json()) as {
    providers: Record<string, { models: Record<string, { prices: Record<string, Price> }> }>;
  };
  return Object.entries(listed[provider]?.models ?? {}).flatMap(([name, { prices }]) => {
    const { web_searches_kcount: fee, input_mtok: input, output_mtok: output } = prices;
    if (fee === undefined || input === undefined || output === undefined) return [];
    return [{ id: `${provider}/${name}`, fee: perToken(fee) * 1e3, input: perToken(input), output: perToken(output) }];
  });
}

describe("with the list prices", () => {
  let gateway: Gateway;
  beforeAll(async () => {
    const to = { base_url: upstream.url, api_key: "unused" };
    gateway = await startGateway({
      providers: { openai: { kind: "openai", ...to }, anthropic: { kind: "anthropic", ...to } },
      config: { pricing: { models: {} } },
    });
  });

  test.each([
    ["openai", responsesPath, { ...responsesAsk, tools: [search] }],
    ["anthropic", messagesPath, messagesAsk],
  ])("0.05 credits pay for one search by every model of %s whose own price allows it", async (provider, path, ask) => {
    upstream.answerWith(() => Response.json({}, { status: 400 }));
    const headers = { authorization: `Bearer ${await gateway.token({ user: provider, credits: nanoOf(0.05) })}` };
    const refused: string[] = [];
    for (const { id, fee, input, output } of await searchers(provider)) {
      const body = JSON.stringify({ ...ask, model: id });
      const { status } = await fetch(gateway.url + path, { method: "POST", headers, body });
      if (status === 402) refused.push(id);
      else expect([id, status]).toEqual([id, 400]);
      // The search, the 8,000 tokens that it brings in, and the least useful answer, which is 256 tokens.
      const least = fee + 8_000 * input + 256 * output;
      // Input may be written to a cache, for a quarter more.
      const most = fee + 8_100 * 1.25 * input + 256 * output;
      if (status === 402) expect(most, id).toBeGreaterThan(0.05);
      else expect(least, id).toBeLessThanOrEqual(0.05);
    }
    for (const id of ["openai/gpt-5.5", "anthropic/claude-opus-5"].filter((each) => each.startsWith(provider))) {
      expect(refused).toContain(id);
    }
  });
});
