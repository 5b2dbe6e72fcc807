/** What loops cost: each part is a hold and a record of its own, and the call shows their sum. */
import { describe, expect, test } from "bun:test";
import { openTokenStore } from "../../src/auth/index.ts";
import { openGenerationStore } from "../../src/generations/index.ts";
import { type Caller, expectCleanAudit, oneCredit, post, until, userBooks } from "../kit/index.ts";
import { hostedScene, type HostedScene, model, type ModelAnswer } from "./hosted-scene.ts";

/** Every round costs one credit, every search a tenth. */
const at = hostedScene({
  pricing: { models: { "plain/*": { requests_kcount: 1_000 } }, web: { searches_kcount: 100, pages_kcount: 0 } },
});
const ROUND = oneCredit;
const SEARCH = oneCredit / 10n;

const search: ModelAnswer = { calls: [{ name: "web_search", args: { query: "q" } }] };
const done: ModelAnswer = { text: "Done." };
const page = { path: "/a", title: "A", content: "About A." };

const paths = ["/v1/responses", "/v1/messages", "/v1/chat/completions"] as const;
type Path = (typeof paths)[number];

const bodies: Readonly<Record<Path, object>> = {
  "/v1/responses": { input: "Hi", tools: [{ type: "web_search" }] },
  "/v1/messages": {
    max_tokens: 100,
    messages: [{ role: "user", content: "Hi" }],
    tools: [{ type: "web_search_20250305", name: "web_search" }],
  },
  "/v1/chat/completions": { messages: [{ role: "user", content: "Hi" }], web_search_options: {} },
};

/** A caller with so many nano-credits. */
async function callerWith({ rig }: HostedScene, user: string, credits: bigint, more: object = {}): Promise<Caller> {
  const token = await rig.gateway.token({ user, credits, ...more });
  const books = async () => {
    const { spent = 0n, held = 0n } = await userBooks(rig.gateway, user);
    return { spent, held };
  };
  return {
    token,
    user,
    books,
    chat: () => Promise.reject(new Error("not used")),
    async closed() {
      await until(`nothing is held for ${user}`, async () => (await books()).held === 0n);
      return (await books()).spent;
    },
  };
}

const ask = (
  { rig }: HostedScene,
  { token }: Caller,
  path: Path,
  more: object = {},
  headers: Record<string, string> = {},
  signal?: AbortSignal,
) => post(rig, path, token, { model, ...bodies[path], ...more }, { headers, ...(signal && { signal }) });

interface Shown {
  id: string;
  credits: number;
  operation: string;
  parent_id: string | null;
  input_tokens: number;
  usage: Record<string, number>;
  outcome: string;
}

async function generationsOf(
  { rig }: HostedScene,
  { token }: Caller,
  id: string,
): Promise<{ call: Shown; parts: Shown[] }> {
  const get = async (path: string): Promise<unknown> =>
    (await fetch(rig.gateway.url + path, { headers: { authorization: `Bearer ${token}` } })).json();
  const call = await get(`/v1/generations/${id}`);
  const list = await get(`/v1/generations?parent_id=${id}&limit=100`);
  return { call: call as Shown, parts: (list as { data: Shown[] }).data };
}

let users = 0;
const nextUser = (): string => `user-${(users += 1)}`;

describe.each(paths)("%s", (path) => {
  test.each([false, true])(
    "rounds and searches are charged each, and shown as one call (streamed: %p)",
    async (stream) => {
      const scene = at();
      const caller = await callerWith(scene, nextUser(), 100n * oneCredit);
      scene.finds(page);
      scene.answers(search, search, done);
      const answer = await ask(scene, caller, path, { stream });
      await answer.text();
      const costs = 3n * ROUND + 2n * SEARCH;
      expect(await caller.closed()).toBe(costs);
      if (!stream) expect(answer.headers.get("x-tollgate-credits")).toBe("3.2");
      const { call, parts } = await generationsOf(scene, caller, answer.headers.get("x-request-id") ?? "");
      expect(call).toMatchObject({
        credits: 3.2,
        input_tokens: 30,
        outcome: "complete",
        parent_id: null,
        usage: { requests: 3, searches: 2 },
      });
      const chief = await scene.rig.gateway.token({ user: "chief", role: "owner" });
      const asChief = { headers: { authorization: `Bearer ${chief}` } };
      const seen = await fetch(`${scene.rig.gateway.url}/admin/v1/generations/${call.id}`, asChief);
      expect(await seen.json()).toMatchObject({ ...call, user: caller.user });
      expect(parts.map(({ operation, credits, parent_id }) => [operation, credits, parent_id])).toEqual([
        [call.operation, 1, call.id],
        ["search", 0.1, call.id],
        [call.operation, 1, call.id],
        ["search", 0.1, call.id],
        [call.operation, 1, call.id],
      ]);
    },
  );

  test("a first round that cannot be held is 402, and nothing was asked", async () => {
    const scene = at();
    const caller = await callerWith(scene, nextUser(), ROUND - 1n);
    scene.answers(search, done);
    const answer = await ask(scene, caller, path, { stream: true });
    expect([answer.status, scene.asked.length]).toEqual([402, 0]);
    expect(await caller.closed()).toBe(0n);
  });

  test.each([
    ["credits end", 2n * ROUND + SEARCH, {}],
    ["the call's own limit ends", 100n * oneCredit, { "x-tollgate-max-credits": "2.1" }],
  ])("if the %s later, the answer ends with what there is", async (_title, credits, headers) => {
    const scene = at();
    scene.finds(page);
    for (const stream of [false, true]) {
      const caller = await callerWith(scene, nextUser(), credits);
      scene.answers({ text: "So", ...search });
      const answer = await ask(scene, caller, path, { stream }, headers);
      const text = await answer.text();
      expect(answer.status).toBe(200);
      expect(text).toContain('"So');
      expect(text).toMatch(
        /"incomplete_details":\{"reason":"max_output_tokens"\}|"stop_reason":"pause_turn"|"finish_reason":"length"/,
      );
      expect(text).not.toMatch(/event: error|"error":\{/);
      expect(await caller.closed()).toBe(2n * ROUND + SEARCH);
    }
  });
});

test("200 loops at once on credits for ten rounds are ten rounds", async () => {
  const scene = at();
  const caller = await callerWith(scene, nextUser(), 10n * ROUND);
  scene.finds(page);
  // A result that is free would be no proof: the model answers itself.
  scene.answers({ calls: [{ name: "open_page", args: { url: "https://nowhere.example/" } }] });
  const asked = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const answer = await ask(scene, caller, paths[index % 3] ?? "/v1/responses", { stream: index % 2 === 0 });
      await answer.text();
      return answer.status;
    }),
  );
  expect(new Set(asked)).toEqual(new Set([200, 402]));
  expect(scene.asked).toHaveLength(10);
  expect(await caller.closed()).toBe(10n * ROUND);
  await expectCleanAudit(scene.rig.gateway);
});

test("the limit of a call bounds searches of one round together", async () => {
  const scene = at();
  const caller = await callerWith(scene, nextUser(), 100n * oneCredit);
  scene.finds(page);
  scene.answers({ calls: Array.from({ length: 5 }, () => ({ name: "web_search", args: { query: "q" } })) });
  const answer = await ask(scene, caller, "/v1/messages", {}, { "x-tollgate-max-credits": "1.25" });
  expect(await answer.json()).toMatchObject({
    stop_reason: "pause_turn",
    usage: { server_tool_use: { web_search_requests: 2 } },
  });
  expect(await caller.closed()).toBe(ROUND + 2n * SEARCH);
});

test("limits of requests let a call pass as a whole; those of tokens hold for each round", async () => {
  const scene = at();
  scene.finds(page);
  const caller = await callerWith(scene, nextUser(), 100n * oneCredit, { rpm: 1, concurrency: 1 });
  scene.answers(search, search, done);
  const answered = await ask(scene, caller, "/v1/chat/completions");
  expect([answered.status, scene.asked.length]).toEqual([200, 3]);
  expect((await ask(scene, caller, "/v1/chat/completions")).status).toBe(429);
  const other = await callerWith(scene, nextUser(), 100n * oneCredit, { tpm: 9_000 });
  scene.answers(search, { ...done, finish: "stop" });
  const refused = await ask(scene, other, "/v1/chat/completions", { max_tokens: 5_000 });
  const text = await refused.text();
  expect(text).toContain("tokens");
  expect(scene.asked.length).toBeLessThan(3);
});

test.each([false, true])("a retry key is one call: its answer comes again (streamed: %p)", async (stream) => {
  const scene = at();
  const caller = await callerWith(scene, nextUser(), 100n * oneCredit);
  scene.finds(page);
  scene.answers(search, done);
  const headers = { "idempotency-key": "once" };
  const first = await (await ask(scene, caller, "/v1/messages", { stream }, headers)).text();
  const again = await ask(scene, caller, "/v1/messages", { stream }, headers);
  expect([await again.text(), again.headers.get("idempotent-replayed")]).toEqual([first, "true"]);
  expect(scene.asked).toHaveLength(2);
  expect(await caller.closed()).toBe(2n * ROUND + SEARCH);
  const other = await ask(scene, caller, "/v1/messages", { stream, temperature: 1 }, headers);
  expect(other.status).toBe(409);
});

describe("a client that leaves while a tool runs", () => {
  test.each([
    ["stops it", {}, 1],
    ["with a retry key changes nothing", { "idempotency-key": "left" }, 2],
  ] as const)("%s", async (_title, headers, rounds) => {
    const scene = at();
    const caller = await callerWith(scene, nextUser(), 100n * oneCredit);
    scene.finds(page);
    scene.answers({ text: "Wait.", ...search }, done);
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    scene.engine.before = async () => {
      reached.resolve();
      await goOn.promise;
    };
    const leaving = new AbortController();
    const answer = await ask(scene, caller, "/v1/messages", { stream: true }, headers, leaving.signal);
    await reached.promise;
    leaving.abort();
    await answer.text().catch(() => undefined);
    const id = answer.headers.get("x-request-id") ?? "";
    if (rounds === 2) goOn.resolve();
    const store = openGenerationStore(scene.rig.gateway.storage);
    const found = await until("the call has ended", () => store.find(id, caller.user).then((call) => call ?? false));
    goOn.resolve();
    scene.engine.before = () => undefined;
    expect(found.outcome).toBe(rounds === 1 ? "abandoned" : "complete");
    await caller.closed();
    expect(scene.asked).toHaveLength(rounds);
    if (rounds === 2) {
      const kept = await (await ask(scene, caller, "/v1/messages", { stream: true }, headers)).text();
      const begun = [...kept.matchAll(/"type":"content_block_(?:start|stop)","index":\d+/g)].map(String);
      expect(begun.length).toBeGreaterThan(4);
      expect(new Set(begun).size).toBe(begun.length);
    }
    await expectCleanAudit(scene.rig.gateway);
  });
});

test.each(paths)("a client of %s that leaves begins no further tool and buys no further round", async (path) => {
  const scene = at();
  const caller = await callerWith(scene, nextUser(), 100n * oneCredit);
  scene.finds(page);
  // Of ten uses, eight are under way at once.
  const calls = Array.from({ length: 10 }, () => ({ name: "web_search", args: { query: "q" } }));
  scene.answers({ text: "Wait.", calls }, done);
  const goOn = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  let searches = 0;
  scene.engine.before = async () => {
    searches += 1;
    if (searches === 8) reached.resolve();
    await goOn.promise;
  };
  const leaving = new AbortController();
  const answer = await ask(scene, caller, path, { stream: true }, {}, leaving.signal);
  await reached.promise;
  leaving.abort();
  await answer.text().catch(() => undefined);
  const store = openGenerationStore(scene.rig.gateway.storage);
  const id = answer.headers.get("x-request-id") ?? "";
  const found = await until("the call has ended", () => store.find(id, caller.user).then((call) => call ?? false));
  goOn.resolve();
  scene.engine.before = () => undefined;
  await caller.closed();
  expect([found.outcome, searches, scene.asked.length]).toEqual(["abandoned", 8, 1]);
});

test.each([false, true])(
  "a token that is revoked while a tool runs gets no further round (streamed: %p)",
  async (stream) => {
    const scene = at();
    const caller = await callerWith(scene, nextUser(), 100n * oneCredit);
    scene.finds(page);
    scene.answers(search, done);
    const goOn = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    scene.engine.before = async () => {
      reached.resolve();
      await goOn.promise;
    };
    const asked = ask(scene, caller, "/v1/messages", { stream });
    await reached.promise;
    const { storage } = scene.rig.gateway;
    const tokens = openTokenStore(storage);
    const own = (await tokens.list()).find(({ userName }) => userName === caller.user);
    await tokens.revoke(own?.id ?? "", Date.now());
    const text = await (await asked).text();
    goOn.resolve();
    scene.engine.before = () => undefined;
    expect(text).toContain("has been revoked");
    await caller.closed();
    expect(scene.asked).toHaveLength(1);
  },
);
