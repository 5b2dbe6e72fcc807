/**
 * Whatever the price catalog sells besides plain tokens is held and charged, or not for sale: each of its units, tiers and
 * places at each provider has a row here, and each row is in the catalog.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  chatPath,
  expectCleanAudit,
  type Gateway,
  messagesPath,
  responsesPath,
  root,
  type ScriptedUpstream,
  startGateway,
  startScriptedUpstream,
} from "../kit/index.ts";

type Body = Record<string, unknown>;

/** A request that buys something, and an answer with it. */
interface Sale {
  path: string;
  ask: Body;
  answer: (model: string) => Body;
  /** The same tokens without it. */
  plain: { ask: Body; answer: (model: string) => Body };
}

const message =
  (usage: Body, more: Body = {}) =>
  (model: string): Body => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model,
    content: [{ type: "text", text: "Hi." }],
    stop_reason: "end_turn",
    usage: { input_tokens: 2_000, output_tokens: 10, ...usage },
    ...more,
  });
const response =
  (more: Body, usage: Body = {}) =>
  (model: string): Body => ({
    id: "resp_1",
    object: "response",
    status: "completed",
    model,
    output: [],
    usage: { input_tokens: 2_000, output_tokens: 10, total_tokens: 2_010, ...usage },
    ...more,
  });
const completion =
  (usage: Body = {}) =>
  (model: string): Body => ({
    id: "c",
    object: "chat.completion",
    model,
    choices: [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 2_000, completion_tokens: 10, total_tokens: 2_010, ...usage },
  });

/** 2,000 tokens. */
const text = "word ".repeat(2_000);

function inMessages(ask: Body, usage: Body, more: Body = {}): Sale {
  const messages = [{ role: "user", content: text }];
  const plain = { ask: { max_tokens: 500, messages }, answer: message({}) };
  return { path: messagesPath, ask: { ...plain.ask, ...ask }, answer: message(usage, more), plain };
}
function inResponses(ask: Body, more: Body, usage: Body = {}): Sale {
  const plain = { ask: { max_output_tokens: 500, store: false, input: text }, answer: response({}) };
  return { path: responsesPath, ask: { ...plain.ask, ...ask }, answer: response(more, usage), plain };
}
function inChat(ask: Body, usage: Body = {}): Sale {
  const plain = { ask: { max_tokens: 500, messages: [{ role: "user", content: text }] }, answer: completion() };
  return { path: chatPath, ask: { ...plain.ask, ...ask }, answer: completion(usage), plain };
}

const cached = (ttl: string): Body => ({ system: [{ type: "text", text, cache_control: { type: "ephemeral", ttl } }] });
const written = (lifetime: string): Body => ({
  input_tokens: 0,
  cache_creation_input_tokens: 2_000,
  cache_creation: { [lifetime]: 2_000 },
});
const ran = (type: string, more: Body = {}): Body => ({
  tools: [{ type }],
  output: [{ type: `${type.replace("_preview", "")}_call`, action: { type: "search" }, ...more }],
});
const once = (tool: Body): Body => ({ tools: [tool], max_tool_calls: 1 });
const cachedFor = (ttl: string): Body => ({ prompt_cache_options: { mode: "explicit", ttl } });
const writtenFor = (lifetime: string): Body => ({
  input_tokens_details: {
    cached_tokens: 0,
    cache_write_tokens: 1_000,
    cache_write_tokens_details: { [lifetime]: 1_000 },
  },
});

/** By the id of the catalog's provider and the unit, tier or place. */
const sales: Readonly<Record<string, Sale>> = {
  "anthropic web_searches_kcount": inMessages(
    { tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 1 }] },
    { server_tool_use: { web_search_requests: 1 } },
  ),
  "anthropic cache_write_mtok": inMessages(cached("5m"), written("ephemeral_5m_input_tokens")),
  "anthropic cache_write_1h_mtok": inMessages(cached("1h"), written("ephemeral_1h_input_tokens")),
  "anthropic tier fast": inMessages({ speed: "fast" }, { speed: "fast" }),
  "anthropic place us": inMessages({ inference_geo: "us" }, { inference_geo: "us" }),
  "openai web_searches_kcount": inResponses(once({ type: "web_search" }), ran("web_search")),
  "openai preview_searches_kcount": inResponses(once({ type: "web_search_preview" }), ran("web_search_preview")),
  "openai storage_searches_kcount": inResponses(once({ type: "file_search" }), ran("file_search")),
  "openai container_gb": inResponses(
    { tools: [{ type: "code_interpreter", container: { type: "auto" } }] },
    ran("code_interpreter", { container_id: "cntr_1" }),
  ),
  "openai cache_write_mtok": inResponses(cachedFor("30m"), {}, writtenFor("ttl_30m_tokens")),
  "openai cache_write_1h_mtok": inResponses(cachedFor("12h"), {}, writtenFor("ttl_12h_tokens")),
  "openai tier priority": inResponses({ service_tier: "priority" }, { service_tier: "priority" }),
  "openai tier flex": inResponses({ service_tier: "flex" }, { service_tier: "flex" }),
  "openai tier ultrafast": inResponses({ service_tier: "ultrafast" }, { service_tier: "ultrafast" }),
  "x-ai web_searches_kcount": inResponses(once({ type: "web_search" }), ran("web_search")),
  "x-ai storage_searches_kcount": inResponses(once({ type: "file_search" }), ran("file_search")),
  "openrouter web_searches_kcount": inChat({ plugins: [{ id: "web" }] }),
  "openrouter cache_write_mtok": inChat({}, { prompt_tokens_details: { cache_write_tokens: 1_000 } }),
};

const dropped = "its chat does not count them: such tools are left out, and demands are refused (hosted-tools.test.ts)";
const elsewhere: Readonly<Record<string, string>> = {
  "google web_searches_kcount": dropped,
  "google maps_kcount": dropped,
  "groq web_searches_kcount": dropped,
  "google tier priority": "a tier is not sent to Google (billed-units.test.ts)",
  "google tier flex": "a tier is not sent to Google (billed-units.test.ts)",
  "perplexity web_searches_kcount": "its answers contain their cost (uncounted-usage.test.ts)",
  "perplexity cache_write_mtok": "of its Responses, which the gateway does not use",
  "moonshotai cache_write_1h_mtok": "no field of its requests asks for it",
  "byteplus tier flex": "of videos (test/videos)",
  "cohere search_units_kcount": "of rankings (test/clients/rerank.test.ts)",
};

/** Keys of a price that are not bought beside a model's plain tokens: these are its modality. */
const modality =
  /^(?:(?:input|output|cache_read)_mtok|output_reasoning_mtok|.*(?:audio|image|video|mchars|connection).*|pages_kcount|requests_kcount)$/;
/** Members with the times of prices. */
const conditions: ReadonlySet<string> = new Set(["from", "daily", "days", "until"]);

type Prices = Record<string, unknown> & { service_tiers?: Body; inference_geos?: Body };
interface CatalogFile {
  providers: Record<string, { models: Record<string, { prices: Prices | Prices[] }> }>;
}

interface Priced {
  models: string[];
}

/** The units, tiers and places of the catalog, each with the text models that have them. */
function unitsOfCatalog(): Map<string, Priced> {
  const units = new Map<string, Priced>();
  const file = readFileSync(join(root, "src/pricing/catalog/catalog.json"), "utf8");
  const { providers } = JSON.parse(file) as CatalogFile;
  const add = (unit: string, model: string): void => {
    const priced = units.get(unit) ?? { models: [] };
    units.set(unit, priced);
    priced.models.push(model);
  };
  for (const [provider, { models }] of Object.entries(providers)) {
    for (const [model, { prices }] of Object.entries(models)) {
      for (const table of [prices].flat()) {
        const { service_tiers = {}, inference_geos = {}, ...keys } = table;
        for (const key of Object.keys(keys)) {
          if (!modality.test(key) && !conditions.has(key)) add(`${provider} ${key}`, model);
        }
        for (const tier of Object.keys(service_tiers)) add(`${provider} tier ${tier}`, model);
        for (const place of Object.keys(inference_geos)) add(`${provider} place ${place}`, model);
      }
    }
  }
  return units;
}

const catalog = unitsOfCatalog();
const prefixes: Readonly<Record<string, string>> = { "x-ai": "xai" };
/** Models of one modality, and models that search in every call. */
const special = /audio|realtime|image|transcribe|tts|search|research|embedding|codex|computer|live|-pro|chat-latest/;

let upstream: ScriptedUpstream;
let gateway: Gateway;
let token: string;
beforeAll(async () => {
  upstream = startScriptedUpstream();
  const provider = { base_url: upstream.url, api_key: "unused" };
  gateway = await startGateway({
    providers: {
      anthropic: { kind: "anthropic", ...provider },
      openai: { kind: "openai", ...provider },
      xai: { kind: "xai", ...provider },
      openrouter: { kind: "openai-compatible", preset: "openrouter", ...provider },
    },
    config: { pricing: {} },
  });
  token = await gateway.token({ user: "ann", credits: 1_000_000_000_000n });
});
afterAll(async () => {
  await expectCleanAudit(gateway);
  expect(await gateway.stop()).toBe(0);
  await upstream.stop();
});

const headers = (): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  "content-type": "application/json",
  "anthropic-version": "2023-06-01",
});

/** Asks once. Returns the credits that were held while the upstream answered, and those that were charged. */
async function buy(path: string, body: Body, answer: Body): Promise<{ held: number; charged: number }> {
  let held = 0;
  upstream.answerWith(async () => {
    const info = await fetch(`${gateway.url}/v1/user/info`, { headers: headers() });
    ({ held } = (await info.json()) as { held: number });
    return Response.json(answer);
  });
  const got = await fetch(gateway.url + path, { method: "POST", headers: headers(), body: JSON.stringify(body) });
  expect([got.status, got.status === 200 ? "" : await got.text()]).toEqual([200, ""]);
  expect(got.headers.get("x-tollgate-dropped-tools")).toBeNull();
  return { held, charged: Number(got.headers.get("x-tollgate-credits")) };
}

test("every unit, tier and place of the catalog has a row, and every row is in the catalog", () => {
  expect([...catalog.keys()].toSorted()).toEqual([...Object.keys(sales), ...Object.keys(elsewhere)].toSorted());
});

describe("is held and charged:", () => {
  test.each(Object.keys(sales))("%s", async (unit) => {
    const { path, ask, answer, plain } = sales[unit] ?? inChat({});
    const [provider = ""] = unit.split(" ");
    const models = catalog.get(unit)?.models.filter((model) => !special.test(model)) ?? [];
    const model = models.at(-1);
    expect(model).toBeString();
    const id = `${prefixes[provider] ?? provider}/${model}`;
    const usual = await buy(path, { model: id, ...plain.ask }, plain.answer(model ?? ""));
    const bought = await buy(path, { model: id, ...ask }, answer(model ?? ""));
    expect(bought.charged).not.toBe(usual.charged);
    expect(bought.charged).toBeGreaterThan(0);
    expect(bought.held).toBeGreaterThanOrEqual(bought.charged);
    // An answer without it costs as much as usual, also if it was held.
    if (!unit.includes("cache_write") && !unit.startsWith("openrouter")) {
      const isOfTerms = unit.startsWith("anthropic tier") || unit.includes("place");
      const unused = unit.includes("tier") ? { service_tier: "default" } : {};
      const spared = await buy(path, { model: id, ...ask }, { ...plain.answer(model ?? ""), ...unused });
      // Without another one named, the terms are those that were asked for.
      expect(spared.charged).toBe(isOfTerms ? bought.charged : usual.charged);
    }
  });
});

/** A request whose answer another model has a part in: one for each way in which a bound can contain one. */
interface OtherModel {
  model: string;
  sale: Sale;
  /** The other model's part, in credits. */
  part: number;
}

const read = { input_tokens: 2_000, output_tokens: 10 };
const opus = { ...read, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
const advisor = { type: "advisor_20260301", name: "advisor", model: "claude-opus-5", max_uses: 1, max_tokens: 1_024 };
const advice = { type: "advisor_message", model: "claude-opus-5", input_tokens: 1_000, output_tokens: 100 };

const otherModels: Readonly<Record<string, OtherModel>> = {
  // 1,000 × 5 + 100 × 25 per million.
  "an advisor": {
    model: "anthropic/claude-haiku-4-5",
    sale: inMessages({ tools: [advisor] }, { iterations: [{ type: "message", ...read }, advice] }),
    part: 0.0075,
  },
  // 2,000 × 5 + 10 × 25 per million, in place of 2,000 × 1 + 10 × 5.
  "a fallback": {
    model: "anthropic/claude-haiku-4-5",
    sale: inMessages(
      { fallbacks: [{ model: "claude-opus-5" }] },
      { iterations: [{ type: "fallback_message", model: "claude-opus-5", ...opus }] },
      { model: "claude-opus-5" },
    ),
    part: 0.01025 - 0.00205,
  },
  // 272 × 40 per million.
  "the model of an image tool": {
    model: "openai/gpt-5",
    sale: inResponses(once({ type: "image_generation", model: "gpt-image-1", quality: "low", size: "1024x1024" }), {
      tools: [{ type: "image_generation", model: "gpt-image-1" }],
      output: [{ type: "image_generation_call", result: "AAAA" }],
      tool_usage: { image_gen: { input_tokens: 0, output_tokens: 272, output_tokens_details: { image_tokens: 272 } } },
    }),
    part: 0.01088,
  },
};

describe("is held at the most, and charged at its own price:", () => {
  test.each(Object.keys(otherModels))("%s", async (name) => {
    const { model: id, sale, part } = otherModels[name] ?? { model: "", sale: inChat({}), part: 0 };
    const { path, ask, answer, plain } = sale;
    const model = id.slice(id.indexOf("/") + 1);
    const usual = await buy(path, { model: id, ...plain.ask }, plain.answer(model));
    const bought = await buy(path, { model: id, ...ask }, answer(model));
    expect(bought.charged - usual.charged).toBeCloseTo(part, 9);
    expect(bought.held).toBeGreaterThanOrEqual(bought.charged);
    expect(bought.held).toBeGreaterThan(usual.held);
    expect((await buy(path, { model: id, ...ask }, plain.answer(model))).charged).toBe(usual.charged);
  });

  test("a model of OpenRouter's that answers in place of another", async () => {
    const models = catalog.get("openrouter web_searches_kcount")?.models ?? [];
    const [small = "", large = ""] = ["openai/gpt-4o-mini", "openai/gpt-4o"].filter((one) => models.includes(one));
    const { path, ask, plain } = inChat({ models: [large] });
    const usual = await buy(path, { model: `openrouter/${small}`, ...plain.ask }, plain.answer(small));
    const other = await buy(path, { model: `openrouter/${large}`, ...plain.ask }, plain.answer(large));
    const bought = await buy(path, { model: `openrouter/${small}`, ...ask }, plain.answer(large));
    expect(bought.charged).toBe(other.charged);
    expect(bought.charged).toBeGreaterThan(usual.charged);
    expect(bought.held).toBeGreaterThanOrEqual(bought.charged);
  });
});
