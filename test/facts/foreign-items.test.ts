/** Items that another provider of Responses made: known by their maker, not by their type. Their results stay as text. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  expectCleanAudit,
  type Gateway,
  responsesPath,
  type ScriptedUpstream,
  startGateway,
  startScriptedUpstream,
} from "../kit/index.ts";

type Item = Record<string, unknown>;

let upstream: ScriptedUpstream;
let gateway: Gateway;
let token: string;
let other: string;
beforeAll(async () => {
  upstream = startScriptedUpstream();
  const provider = { base_url: upstream.url, api_key: "unused" };
  const compatible = { kind: "openai-compatible", ...provider };
  gateway = await startGateway({
    providers: {
      openai: { kind: "openai", ...provider },
      xai: { kind: "xai", ...provider },
      byteplus: { kind: "byteplus", ...provider },
      deepseek: { ...compatible, preset: "deepseek" },
      openrouter: { ...compatible, preset: "openrouter" },
    },
    config: { pricing: { models: { "*/m": { input_mtok: 1, output_mtok: 1, web_searches_kcount: 1 } } } },
  });
  token = await gateway.token({ user: "ann", credits: 1_000_000_000_000n });
  other = await gateway.token({ user: "bob", credits: 1_000_000_000_000n });
});
afterAll(async () => {
  await expectCleanAudit(gateway);
  expect(await gateway.stop()).toBe(0);
  await upstream.stop();
});

const sources = [{ type: "url", url: "https://example.com/a" }];
const message = (id: string): Item => ({
  type: "message",
  id: `msg_${id}`,
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text: "Found it.", annotations: [] }],
});
const search = (id: string): Item => ({
  type: "web_search_call",
  id: `ws_${id}`,
  status: "completed",
  action: { type: "search", query: "fish", sources },
});
const usage = { input_tokens: 100, output_tokens: 10, total_tokens: 110 };
const question = { role: "user", content: "Where is it?" };

/** The upstream answers with these items from now on. */
function answerWith(output: readonly Item[]): void {
  const whole = { id: "resp_1", object: "response", created_at: 1, status: "completed", model: "m", output, usage };
  upstream.answerWith(({ body }) => {
    if (!body.includes('"stream":true')) return Response.json(whole);
    const events = [
      ...output.map((item, output_index) => ({ type: "response.output_item.done", output_index, item })),
      { type: "response.completed", response: whole },
    ];
    const frames = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    return new Response(frames.join(""), { headers: { "content-type": "text/event-stream" } });
  });
}

async function ask(provider: string, body: object, by = token): Promise<{ answer: Response; text: string }> {
  const answer = await fetch(gateway.url + responsesPath, {
    method: "POST",
    headers: { authorization: `Bearer ${by}`, "content-type": "application/json" },
    body: JSON.stringify({ model: `${provider}/m`, ...body }),
  });
  return { answer, text: await answer.text() };
}

const sentInput = (): Item[] => (JSON.parse(upstream.requests.at(-1)?.body ?? "{}") as { input: Item[] }).input;

let round = 0;
let id: string;
beforeEach(() => {
  round += 1;
  id = String(round).repeat(8);
});

/** A provider's answer with these items, whole or streamed, and the history after it. */
async function historyOf(provider: string, output: readonly Item[], more: object = {}): Promise<Item[]> {
  answerWith(output);
  expect((await ask(provider, { input: [question], ...more })).answer.status).toBe(200);
  answerWith([message("next")]);
  return [question, ...output, { role: "user", content: "And then?" }];
}

const others = ["openai", "xai", "byteplus", "deepseek", "openrouter"];

describe.each([false, true])("a search in an answer, streamed: %p", (stream) => {
  test.each(others)("of %s is text for each other provider, and stays its own", async (maker) => {
    // DeepSeek's other items have the gateway's ids.
    const history = await historyOf(maker, [search(id), message(id)], { stream, store: false });
    for (const provider of others) {
      const { answer, text } = await ask(provider, { input: history, store: false });
      expect([provider, answer.status], text).toEqual([provider, 200]);
      const types = sentInput().map(({ type }) => type);
      const changes = answer.headers.get("x-tollgate-changes") ?? "";
      expect([provider, types.includes("web_search_call")]).toEqual([provider, provider === maker]);
      expect([provider, changes.includes("hosted-items")]).toEqual([provider, provider !== maker]);
      expect(JSON.stringify(sentInput())).toContain("https://example.com/a");
    }
  });
});

test("a file is looked up although an item of another provider has its id", async () => {
  const found = { ...search(id), id: `file-${id}` };
  const history = await historyOf("xai", [found, message(id)], { store: false });
  const file = { type: "input_file", file_id: `file-${id}` };
  const input = [...history, { role: "user", content: [file] }];
  const before = upstream.requests.length;
  const { answer, text } = await ask("openai", { input, store: false });
  expect([answer.status, upstream.requests.length - before], text).toEqual([404, 0]);
  expect((JSON.parse(text) as { error: object }).error).toMatchObject({ code: "object_not_found" });
});

test("the bytes of its maker's history pass", async () => {
  const history = await historyOf("openai", [search(id), message(id)]);
  const odd = { input: history, prompt_cache_key: "  k", metadata: { a: "\u00e9" } };
  expect((await ask("openai", odd)).answer.headers.get("x-tollgate-changes")).toBeNull();
  expect(upstream.requests.at(-1)?.body).toStartWith(JSON.stringify({ model: "m", ...odd }).slice(0, -1));
});

test("another user's items are not known as anybody's", async () => {
  const history = await historyOf("openai", [search(id), message(id)]);
  const { answer } = await ask("xai", { input: history }, other);
  expect([answer.status, answer.headers.get("x-tollgate-changes")]).toEqual([200, null]);
  expect(sentInput()).toEqual(history);
});

test("an item that is also referenced by its id is looked for at the provider that is asked", async () => {
  const history = await historyOf("openai", [search(id), message(id)]);
  const { answer, text } = await ask("xai", { input: [{ type: "item_reference", id: `ws_${id}` }, ...history] });
  expect([answer.status, text]).toEqual([404, expect.stringContaining("of yours at xai") as string]);
});

test("thoughts of another provider are left out, sealed or not", async () => {
  const sealed = { type: "reasoning", id: `rs_${id}`, summary: [], encrypted_content: "sealed-for-its-maker" };
  const bare = { type: "reasoning", id: `rs_${id}b`, summary: [{ type: "summary_text", text: "Hm." }] };
  const history = await historyOf("xai", [sealed, bare, message(id)]);
  const { answer, text } = await ask("openai", { input: history });
  expect(answer.status, text).toBe(200);
  expect(sentInput().map(({ type }) => type)).toEqual(["message", "message", "message"]);
  expect((await ask("xai", { input: history })).answer.status).toBe(200);
  expect(sentInput()).toEqual(history);
});

test("the request for an approval goes with its approval", async () => {
  const asked = { type: "mcp_approval_request", id: `mcpr_${id}`, name: "look", arguments: "{}", server_label: "s" };
  const history = await historyOf("openai", [asked, message(id)]);
  const approval = { type: "mcp_approval_response", approval_request_id: asked.id, approve: true };
  const { answer, text } = await ask("xai", { input: [...history, approval, question] });
  expect(answer.status, text).toBe(200);
  expect(sentInput().filter(({ type }) => String(type).startsWith("mcp"))).toEqual([]);
});

test("a compaction of another provider is refused with the way out, unless its items are there too", async () => {
  const compaction = { type: "compaction", id: `cmp_${id}`, encrypted_content: "sealed-for-its-maker" };
  await historyOf("openai", [compaction]);
  const { answer, text } = await ask("xai", { input: [compaction, question] });
  expect([answer.status, text]).toEqual([
    422,
    expect.stringContaining("Continue with a model of the provider") as string,
  ]);
  const beside = await ask("xai", { input: [question, message(id), compaction, question] });
  expect(beside.answer.status, beside.text).toBe(200);
  expect(sentInput().map(({ type }) => type)).toEqual(["message", "message", "message"]);
});
