/** The limits that a loop counts against, the targets of its rounds, and the code of an early end in its record, on both storages. */
import { describe, expect, test } from "bun:test";
import { engines, expectCleanAudit, oneCredit, post, sharedPostgres, storageOn } from "../kit/index.ts";
import { hostedScene, model, type ModelAnswer } from "./hosted-scene.ts";

const postgres = sharedPostgres();

const search: ModelAnswer = { calls: [{ name: "web_search", args: { query: "q" } }] };
const done: ModelAnswer = { text: "OK." };
const busy: ModelAnswer = { status: 503 };

const chat = { messages: [{ role: "user", content: "Hi" }], web_search_options: {} };
const messages = {
  max_tokens: 100,
  messages: [{ role: "user", content: "Hi" }],
  tools: [{ type: "web_search_20250305", name: "web_search" }],
};

describe.each(engines)("on %s,", (engine) => {
  const at = hostedScene(
    {
      pricing: {
        models: { "plain/*": { requests_kcount: 1_000 }, "spare/*": { requests_kcount: 2_000 } },
        web: { searches_kcount: 100, pages_kcount: 0 },
      },
      routing: {
        circuits: false,
        routes: { either: { tiers: [[{ model }, { model: "spare/model" }]], over_budget: "next" } },
      },
    },
    { storage: () => storageOn(engine, postgres) },
  );
  let users = 0;

  async function caller(limits: object = {}) {
    users += 1;
    const user = `user-${users}`;
    const { rig } = at();
    const token = await rig.gateway.token({ user, credits: 1_000n * oneCredit, ...limits });
    const ask = (path: string, body: object): Promise<Response> => post(rig, path, token, { model, ...body });
    const generation = async (answer: Response): Promise<{ error_code?: string; outcome: string }> => {
      const url = `${rig.gateway.url}/v1/generations/${answer.headers.get("x-request-id") ?? ""}`;
      const found = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
      return (await found.json()) as { error_code?: string; outcome: string };
    };
    return { ask, generation };
  }

  test("a call with three rounds and two searches is one request of the minute, for later calls too", async () => {
    const scene = at();
    scene.finds({ path: "/a", title: "A", content: "About A." });
    const { ask } = await caller({ rpm: 3 });
    for (const left of ["2", "1", "0"]) {
      scene.answers(search, search, done);
      const answer = await ask("/v1/chat/completions", chat);
      await answer.text();
      expect([answer.status, answer.headers.get("x-ratelimit-remaining-requests")]).toEqual([200, left]);
    }
    expect((await ask("/v1/chat/completions", chat)).status).toBe(429);
  });

  test("it is one open call while its parts run; the tokens of all its rounds count", async () => {
    const scene = at();
    scene.finds({ path: "/a", title: "A", content: "About A." });
    const { ask } = await caller({ concurrency: 2, tpm: 1_000_000 });
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    scene.engine.before = async () => {
      reached.resolve();
      await goOn.promise;
    };
    scene.answers(search, done);
    const first = ask("/v1/chat/completions", { ...chat, max_tokens: 50 });
    await reached.promise;
    const plain = { messages: chat.messages, max_tokens: 10 };
    const beside = await ask("/v1/chat/completions", plain);
    expect([beside.status, beside.headers.get("x-ratelimit-remaining-requests")]).toEqual([200, null]);
    scene.engine.before = () => undefined;
    goOn.resolve();
    expect((await first).status).toBe(200);
    const after = await ask("/v1/chat/completions", plain);
    // Two rounds of fifteen tokens, the call beside it, and the expected use of this one.
    const left = Number(after.headers.get("x-ratelimit-remaining-tokens"));
    expect(left).toBeLessThanOrEqual(1_000_000 - 45);
    expect(left).toBeGreaterThan(1_000_000 - 200);
    await after.text();
    await expectCleanAudit(scene.rig.gateway);
  });

  test.each([
    ["credits", { credits: (21n * oneCredit) / 10n }],
    ["a budget", { maxBudget: (21n * oneCredit) / 10n }],
  ])("an answer that runs out of %s has that code in its record", async (_title, limits) => {
    const scene = at();
    scene.finds({ path: "/a", title: "A", content: "About A." });
    for (const [path, body] of [
      ["/v1/chat/completions", chat],
      ["/v1/messages", { ...messages, stream: true }],
    ] as const) {
      const { ask, generation } = await caller(limits);
      scene.answers({ text: "So", ...search });
      const answer = await ask(path, body);
      await answer.text();
      expect(await generation(answer)).toMatchObject({ outcome: "complete", error_code: "insufficient_credits" });
    }
  });

  test.each([false, true])(
    "an answer whose later round meets a limit is what there is so far (streamed: %p)",
    async (stream) => {
      const scene = at();
      scene.finds({ path: "/a", title: "A", content: "About A." });
      for (const [path, body, end] of [
        ["/v1/chat/completions", chat, '"finish_reason":"length"'],
        ["/v1/messages", messages, '"stop_reason":"pause_turn"'],
      ] as const) {
        const { ask, generation } = await caller({ tpm: 9_000 });
        const expectSoFar = async (answer: Response): Promise<void> => {
          const text = await answer.text();
          expect([answer.status, text.includes('"So'), text.includes(end)], text).toEqual([200, true, true]);
          expect(await generation(answer)).toMatchObject({ outcome: "complete", error_code: "rate_limit_exceeded" });
        };
        // The provider's limit.
        scene.answers({ text: "So", ...search }, { status: 429 });
        await expectSoFar(await ask(path, { ...body, max_tokens: 2_000, stream }));
        // The token's own: another call takes what is left.
        const reached = Promise.withResolvers<void>();
        const goOn = Promise.withResolvers<void>();
        const beside: Promise<Response>[] = [];
        scene.answers({ text: "So", ...search }, async () => {
          reached.resolve();
          await goOn.promise;
          return done;
        });
        scene.engine.before = async () => {
          beside.push(ask(path, { messages: chat.messages, max_tokens: 7_500 }));
          await reached.promise;
        };
        await expectSoFar(await ask(path, { ...body, max_tokens: 5_000, stream }));
        scene.engine.before = () => undefined;
        goOn.resolve();
        expect((await beside[0])?.status).toBe(200);
      }
    },
  );

  test.each(["/v1/chat/completions", "/v1/messages"])(
    "later rounds of a route stay where the first content came from (%s)",
    async (path) => {
      const scene = at();
      scene.finds({ path: "/a", title: "A", content: "About A." });
      const body = { ...(path === "/v1/messages" ? messages : chat), model: "either" };
      const { ask } = await caller();
      // The first target is busy once: the second one begins the answer, and keeps it.
      scene.answers(busy, { text: "So", ...search }, { text: "So", ...search }, done);
      expect(await (await ask(path, { ...body, stream: true })).text()).toContain("OK.");
      expect(scene.askedAt).toEqual(["plain", "spare", "spare", "spare"]);
      // It fails later: nobody else goes on with its answer.
      scene.answers({ text: "So", ...search }, busy);
      const broken = await (await ask(path, { ...body, stream: true })).text();
      expect(new Set(scene.askedAt)).toEqual(new Set(["plain"]));
      expect(broken).toContain("busy");
    },
  );

  test("a round before the first content may move", async () => {
    const scene = at();
    scene.finds({ path: "/a", title: "A", content: "About A." });
    const { ask } = await caller();
    scene.answers(search, busy, done);
    const answer = await ask("/v1/chat/completions", { ...chat, model: "either" });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("OK.") as string]);
    expect(scene.askedAt).toEqual(["plain", "plain", "spare"]);
  });
});
