import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { GatewayError, type JsonObject } from "../../core/index.ts";
import {
  attemptOnce,
  type Fetched,
  principalOf,
  router,
  targetOf,
  upstreamKey,
  worldOf,
} from "../../sending/__fixtures__/upstreams.ts";
import type { Storage } from "../../storage/index.ts";
import { openStorage } from "../../../test/kit/storage.ts";
import { MemoryBudget, Ticker } from "../../streaming/index.ts";
import { Conversations } from "../conversations/conversations.ts";
import { openConversationStore } from "../conversations/sql/open.ts";
import { ResponseStoreService } from "./response-store-service.ts";
import { deleteResponse, getResponse, listInputItems, type StoredResponseDependencies } from "./lookups.ts";
import { openResponseStore } from "./sql/open.ts";

let ticker: Ticker;
let storage: Storage;
let keeper: ResponseStoreService;
let fetched: Fetched[];

beforeEach(async () => {
  ticker = new Ticker(60_000, () => 0);
  storage = await openStorage("sqlite::memory:");
  const clock = (): number => 1_000;
  const randomBytes = (size: number): Uint8Array => new Uint8Array(size);
  const conversations = new Conversations({ store: openConversationStore(storage), clock, randomBytes });
  keeper = new ResponseStoreService({ responses: openResponseStore(storage), conversations, clock });
});
afterEach(async () => {
  ticker.stop();
  await storage.close();
});

async function keep(model: string, id: string, request: JsonObject): Promise<void> {
  const target = targetOf(model, ["responses", "chat", "messages"]);
  const call = { principal: principalOf("alice"), target, request, callId: id };
  await keeper.store(
    call,
    { id, object: "response", output: [] },
    target.operation.storesAnswers === undefined ? undefined : { keyId: "k" },
  );
}

/** Nothing runs in the background. */
const none: StoredResponseDependencies["background"] = {
  find: () => Promise.resolve(undefined),
  cancel: () => Promise.resolve(undefined),
  remove: () => Promise.resolve(),
  events: () => new ReadableStream(),
};

/** Performs one of the three operations on a stored response of alice's. */
async function ask(
  what: typeof getResponse,
  id: string,
  { query = "", script = () => Response.json({ id }) }: { query?: string; script?: (seen: Fetched) => Response } = {},
): Promise<{ status: number; text: string }> {
  const world = worldOf(script);
  ({ fetched } = world);
  const asking = {
    environment: world.environment,
    ticker,
    observer: {},
    memory: new MemoryBudget(1e9),
    send: attemptOnce,
  };
  const request = new Request(`http://gateway.test/v1/responses/${encodeURIComponent(id)}${query}`);
  const answer = await what(
    { asking, router, responseStore: keeper, background: none },
    { request, requestId: "req_1", principal: principalOf("alice"), id },
  );
  return { status: answer.status, text: await answer.text() };
}

async function refusalOf(promise: Promise<unknown>): Promise<GatewayError> {
  const reason: unknown = await promise.catch((thrown: unknown) => thrown);
  if (!(reason instanceof GatewayError)) throw new Error(`no refusal: ${String(reason)}`);
  return reason;
}

describe("items of a response that the gateway stores", () => {
  const input = Array.from({ length: 45 }, (_, index) => ({ role: "user", id: `msg_${index}`, content: `${index}` }));
  beforeEach(() => keep("deepseek/m", "resp_1", { input }));

  interface Page {
    object: string;
    data: { id: string }[];
    first_id: string | null;
    last_id: string | null;
    has_more: boolean;
  }
  const pageOf = async (query = "", id = "resp_1"): Promise<Page> =>
    JSON.parse((await ask(listInputItems, id, { query })).text) as Page;

  test("are listed newest first, twenty at a time", async () => {
    const page = await pageOf();
    expect(page.data.map(({ id }) => id)).toEqual(
      input
        .toReversed()
        .slice(0, 20)
        .map(({ id }) => id),
    );
    expect([page.object, page.first_id, page.last_id, page.has_more]).toEqual(["list", "msg_44", "msg_25", true]);
  });

  test.each(["asc", "desc"])("are walked to the last by their cursor, each once: %s", async (order) => {
    const seen: string[] = [];
    for (let after = "", more = true; more;) {
      const page = await pageOf(`?limit=7&order=${order}${after}`);
      seen.push(...page.data.map(({ id }) => id));
      more = page.has_more;
      after = `&after=${page.last_id}`;
    }
    const ids = input.map(({ id }) => id);
    expect(seen).toEqual(order === "asc" ? ids : ids.toReversed());
  });

  test("a page may contain all of them, or one; after the last there is none", async () => {
    expect(await pageOf("?limit=100")).toMatchObject({ has_more: false, last_id: "msg_0" });
    expect((await pageOf("?limit=1")).data).toHaveLength(1);
    expect(await pageOf("?after=msg_0")).toMatchObject({ data: [], first_id: null, last_id: null, has_more: false });
    expect(await pageOf("?limit=45")).toMatchObject({ has_more: false });
  });

  test.each(["0", "101", "-1", "1.5", "x", "", "1e9", "NaN", "Infinity"])("a limit of %p is refused", async (limit) => {
    const refusal = await refusalOf(ask(listInputItems, "resp_1", { query: `?limit=${limit}` }));
    expect([refusal.status, refusal.param]).toEqual([422, "limit"]);
  });

  test("an unknown cursor is refused", async () => {
    const refusal = await refusalOf(ask(listInputItems, "resp_1", { query: "?after=msg_99" }));
    expect([refusal.status, refusal.param]).toEqual([422, "after"]);
  });

  test("an unknown order is refused", async () => {
    const refusal = await refusalOf(ask(listInputItems, "resp_1", { query: "?order=sideways" }));
    expect([refusal.status, refusal.param]).toEqual([422, "order"]);
  });

  test("items without an id get one, and text becomes an item", async () => {
    await keep("deepseek/m", "resp_2", { input: "hello" });
    const { data } = await pageOf("", "resp_2");
    expect(data).toHaveLength(1);
    expect(data[0]).toMatchObject({ type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] });
    expect(data[0]?.id).toMatch(/^msg_\w+$/);
  });
});

describe("a response that its upstream stores", () => {
  beforeEach(async () => {
    await keep("openai/m", "resp_up", { input: "hello" });
    await keep("xai/m", "4f3a/../x?y", { input: "hello" });
  });

  test("is requested from it, query included, by its id only", async () => {
    const answer = await ask(getResponse, "resp_up", {
      query: "?include[]=a",
      script: () => new Response('{"x": 1.0}'),
    });
    expect(answer).toEqual({ status: 200, text: '{"x": 1.0}' });
    await ask(listInputItems, "resp_up", { query: "?limit=5&order=asc" });
    expect(fetched.map(({ method, url }) => `${method} ${url}`)).toEqual([
      "GET https://openai.test/responses/resp_up/input_items?limit=5&order=asc",
    ]);
    await ask(getResponse, "4f3a/../x?y");
    expect(fetched.map(({ url }) => url)).toEqual(["https://xai.test/responses/4f3a%2F..%2Fx%3Fy"]);
    expect(fetched.map(({ headers }) => headers.get("authorization"))).toEqual([`Bearer ${upstreamKey}`]);
  });

  test.each<[string, string]>([
    ["limit=0", "limit"],
    ["limit=5&order=up", "order"],
  ])("is not asked for the page %s", async (query, param) => {
    const refusal = await refusalOf(ask(listInputItems, "resp_up", { query: `?${query}` }));
    expect([refusal.status, refusal.param, fetched]).toEqual([422, param, []]);
  });

  test("is listed by any of them, or gets that upstream's own refusal", async () => {
    const script = () => Response.json({ error: { message: "no such route" } }, { status: 404 });
    const answer = await ask(listInputItems, "4f3a/../x?y", { query: "?limit=5", script });
    expect([answer.status, answer.text]).toEqual([404, '{"error":{"message":"no such route"}}']);
    expect(fetched.map(({ url }) => url)).toEqual(["https://xai.test/responses/4f3a%2F..%2Fx%3Fy/input_items?limit=5"]);
  });

  test("is never streamed again", async () => {
    const refusal = await refusalOf(ask(getResponse, "resp_up", { query: "?stream=true" }));
    expect([refusal.status, refusal.param]).toEqual([422, "stream"]);
  });

  test("is answered with the upstream's refusals, except for our key", async () => {
    const script = () => Response.json({ error: { message: upstreamKey } }, { status: 404 });
    for (const what of [getResponse, listInputItems]) {
      expect(await ask(what, "resp_up", { script })).toEqual({
        status: 404,
        text: '{"error":{"message":"[redacted]"}}',
      });
    }
  });

  test("is removed there and here", async () => {
    const answer = await ask(deleteResponse, "resp_up");
    expect(JSON.parse(answer.text)).toEqual({ id: "resp_up", object: "response", deleted: true });
    expect(fetched.map(({ method }) => method)).toEqual(["DELETE"]);
    for (const what of [getResponse, listInputItems, deleteResponse]) {
      expect(await refusalOf(ask(what, "resp_up"))).toMatchObject({ status: 404 });
      expect(fetched).toEqual([]);
    }
  });

  test("can be deleted again if the upstream refused", async () => {
    const refused = await ask(deleteResponse, "resp_up", { script: () => new Response("busy", { status: 429 }) });
    expect(refused.status).toBe(429);
    expect((await ask(deleteResponse, "resp_up")).status).toBe(200);
  });

  test("is deleted here if it no longer exists there", async () => {
    const answer = await ask(deleteResponse, "resp_up", { script: () => new Response("{}", { status: 404 }) });
    expect(answer.status).toBe(200);
    expect(await refusalOf(ask(getResponse, "resp_up"))).toMatchObject({ status: 404 });
  });
});
