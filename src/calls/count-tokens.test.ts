import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { GatewayError, type JsonObject } from "../core/index.ts";
import {
  attemptOnce,
  type Fetched,
  principalOf,
  router,
  upstreamKey,
  worldOf,
} from "../sending/__fixtures__/upstreams.ts";
import { PriceBook } from "../pricing/index.ts";
import { type ModelRoute, ModelRouter } from "../routing/index.ts";
import { MemoryBudget, Ticker } from "../streaming/index.ts";
import { Conversations, openConversationStore, openResponseStore, ResponseStoreService } from "../objects/index.ts";
import { openStorage } from "../../test/kit/storage.ts";
import { objectsInMemory } from "../objects/owners/__fixtures__/memory.ts";
import { countTokens } from "./count-tokens.ts";
import { LargeBodies } from "./large-bodies.ts";

const storedObjects = await objectsInMemory();
const storage = await openStorage("sqlite::memory:");
const clock = (): number => 1;
const randomBytes = (size: number): Uint8Array => new Uint8Array(size);
const conversations = new Conversations({ store: openConversationStore(storage), clock, randomBytes });
const responseStore = new ResponseStoreService({ responses: openResponseStore(storage), conversations, clock });
afterAll(() => storage.close());

let ticker: Ticker;
let fetched: Fetched[];

beforeEach(() => {
  ticker = new Ticker(60_000, () => 0);
});
afterEach(() => ticker.stop());

/** The steps of large bodies, each of which lets other callers go first. */
class CountedTurns extends LargeBodies {
  count = 0;

  override turn(owner: string): Promise<void> {
    this.count += 1;
    return super.turn(owner);
  }
}

function count(
  body: string | object,
  script: (seen: Fetched) => Response = () => Response.json({ input_tokens: 7 }),
  largeBodies: LargeBodies = new LargeBodies(),
  models: ModelRouter = router,
) {
  const world = worldOf(script);
  ({ fetched } = world);
  const request = new Request("http://gateway.test/v1/messages/count_tokens", {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
    headers: { "anthropic-version": "2026-10-21", "anthropic-beta": "x", cookie: "a=b" },
  });
  const deps = {
    asking: {
      environment: world.environment,
      ticker,
      memory: new MemoryBudget(1e9),
      observer: {},
      send: attemptOnce,
    },
    router: models,
    body: { bytesMax: 32_000_000, arrivalMsMax: 60_000, ticker },
    storedObjects,
    responseStore,
    largeBodies,
    hosted: { opened: (opened: JsonObject) => Promise.resolve(opened) },
    admitFree: () => Promise.resolve(),
  };
  return countTokens(deps, { request, requestId: "req_1", principal: principalOf("alice") });
}

async function refusalOf(promise: Promise<unknown>): Promise<GatewayError> {
  const reason: unknown = await promise.catch((thrown: unknown) => thrown);
  if (!(reason instanceof GatewayError)) throw new Error(`no refusal: ${String(reason)}`);
  return reason;
}

const messages = [{ role: "user", content: "hello" }];

describe("if the upstream counts", () => {
  test("it gets the caller's own bytes, except for the model's prefix", async () => {
    const answer = await count(
      '{ "model":"anthropic/claude-x", "messages":[{"role":"user","content":"\\u00e9"}],"n":1.0}',
    );
    expect([answer.status, await answer.json()]).toEqual([200, { input_tokens: 7 }]);
    const [{ url, body, headers } = { url: "", body: "", headers: new Headers() }, ...more] = fetched;
    expect(more).toEqual([]);
    expect(url).toBe("https://anthropic.test/v1/messages/count_tokens");
    expect(body).toBe('{ "model":"claude-x", "messages":[{"role":"user","content":"\\u00e9"}],"n":1.0}');
    expect(headers.get("anthropic-version")).toBe("2026-10-21");
    expect(headers.get("anthropic-beta")).toBe("x");
    expect(headers.get("x-api-key")).toBe(upstreamKey);
    expect(headers.get("cookie")).toBeNull();
  });

  test("it gets what a call would have in the place of something that the model does not take", async () => {
    const long = `mcp__${"x".repeat(130)}`;
    const tools = [{ name: long, input_schema: { oneOf: [{ type: "object" }] } }];
    const called = { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: long, input: {} }] };
    const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "1" }] };
    await count({ model: "anthropic/claude-x", messages: [...messages, called, result], tools });
    const sent = JSON.parse(fetched[0]?.body ?? "{}") as {
      tools: { name: string; input_schema: object }[];
      messages: { content: { name?: string }[] }[];
    };
    const name = sent.tools[0]?.name ?? "";
    expect(name).toMatch(/^mcp__x+_[0-9a-f]{8}$/);
    expect(name.length).toBe(128);
    expect(sent.tools[0]?.input_schema).not.toHaveProperty("oneOf");
    expect(sent.messages[1]?.content[0]?.name).toBe(name);
    expect(Object.keys(sent).toSorted()).toEqual(["messages", "model", "tools"]);
  });

  test.each([400, 429, 529])("its refusal %d passes unchanged, except for our key", async (status) => {
    const answer = await count({ model: "anthropic/claude-x", messages }, () =>
      Response.json({ type: "error", error: { message: `no: ${upstreamKey}` } }, { status }),
    );
    expect(answer.status).toBe(status);
    expect(await answer.text()).toBe('{"type":"error","error":{"message":"no: [redacted]"}}');
  });

  test("so does one with a success status", async () => {
    const answer = await count({ model: "anthropic/claude-x", messages }, () =>
      Response.json({ type: "error", error: { message: `no: ${upstreamKey}` } }),
    );
    expect(await answer.text()).toBe('{"type":"error","error":{"message":"no: [redacted]"}}');
  });

  test("its answer must be JSON", async () => {
    const refusal = await refusalOf(count({ model: "anthropic/claude-x", messages }, () => new Response("<html>")));
    expect(refusal).toMatchObject({ code: "upstream_invalid_answer", status: 502 });
  });

  test("another upstream's signature is not sent: the answer is then an estimate", async () => {
    const thought = { type: "thinking", thinking: "hm", signature: "tollgate.deepseek.thought.c2ln" };
    const said = [...messages, { role: "assistant", content: [thought] }, ...messages];
    const answer = await count({ model: "anthropic/claude-x", messages: said });
    expect(fetched).toEqual([]);
    expect(((await answer.json()) as { input_tokens: number }).input_tokens).toBeGreaterThan(2);
  });
});

describe("otherwise the answer is an estimate", () => {
  test.each([
    ["a long text is decoded in pieces", "\\n".repeat(2_000_000), 4],
    ["a short one at once", "\\n", 0],
  ])("in steps that let others go first: %s", async (_, text, turnsMin) => {
    const turns = new CountedTurns();
    const body = `{"model":"openai/gpt-x","messages":[{"role":"user","content":"${text}"}]}`;
    const answer = await count(body, undefined, turns);
    expect(((await answer.json()) as { input_tokens: number }).input_tokens).toBeGreaterThan(0);
    if (turnsMin === 0) expect(turns.count).toBe(0);
    else expect(turns.count).toBeGreaterThanOrEqual(turnsMin);
  });

  const tokensOf = async (more: object): Promise<number> => {
    const answer = await count({ model: "deepseek/deepseek-chat", messages, ...more });
    expect(fetched).toEqual([]);
    return ((await answer.json()) as { input_tokens: number }).input_tokens;
  };

  test("that grows with all input", async () => {
    const plain = await tokensOf({});
    expect(plain).toBeGreaterThan(0);
    const long = await tokensOf({ messages: [{ role: "user", content: "word ".repeat(1_000) }] });
    expect(long).toBeGreaterThan(1_000);
    expect(long).toBeLessThan(3_000);
    expect(await tokensOf({ system: "Be brief. ".repeat(10) })).toBeGreaterThan(plain);
    const tool = { name: "look", description: "Looks.", input_schema: { type: "object", properties: {} } };
    expect(await tokensOf({ tools: [tool] })).toBeGreaterThan(plain);
    const source = { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" };
    expect(await tokensOf({ messages: [{ role: "user", content: [{ type: "image", source }] }] })).toBeGreaterThan(
      plain,
    );
  });

  test.each<[object, string]>([
    [{ messages: [] }, "messages"],
    [{ messages: [{ role: "user", content: [{ type: "of_tomorrow" }] }] }, "messages.0.content.0"],
    [{ model: "nobody/m" }, "model"],
  ])("an invalid body is refused: %p", async (more, field) => {
    const refusal = await refusalOf(count({ model: "deepseek/deepseek-chat", messages, ...more }));
    expect(refusal.param).toStartWith(field);
    expect([404, 422]).toContain(refusal.status);
  });
});

describe("a route whose providers keep files of their own", () => {
  const prices = new PriceBook({
    operatorPrices: { "*": { input_mtok: 1, output_mtok: 2 } },
    unpriced: "refuse",
    clock: () => 0,
  });
  const anthropic = router.withPrefix("anthropic");
  if (anthropic === undefined) throw new Error("no such provider");
  const second = { ...anthropic, prefix: "second", baseUrl: "https://second.test" };
  const target = (model: string) => ({ model, weight: 1, on: new Set<never>() });
  const either: ModelRoute = {
    name: "either",
    strategy: "order",
    tiers: [[target("anthropic/claude"), target("second/claude")]],
    limits: {
      attempts: 4,
      deadlineMs: 1,
      attemptMsMax: 1,
      wholeMsMax: 1,
      headMsMax: 1,
      commit: undefined,
    },
  };
  const models = new ModelRouter([...router.routes, second], prices, { modelRoutes: [either] });
  const asking = (id: string) => ({
    model: "either",
    messages: [{ role: "user", content: [{ type: "document", source: { type: "file", file_id: id } }] }],
  });

  test("is asked where the caller's file is", async () => {
    const caller = { principal: principalOf("alice"), route: second };
    await storedObjects.record([{ kind: "file", id: "file_second" }], caller, { keyId: "k", ttlMs: 1_000 });
    const answer = await count(asking("file_second"), undefined, undefined, models);
    expect([answer.status, fetched.map(({ url }) => new URL(url).host)]).toEqual([200, ["second.test"]]);
  });

  test("is 404 if none has it, and asks nobody", async () => {
    const refusal = await refusalOf(count(asking("file_of_nobody"), undefined, undefined, models));
    expect([refusal.code, fetched]).toEqual(["object_not_found", []]);
  });
});
