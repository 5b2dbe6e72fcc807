/** Targets that are for some calls only, and strategies that look at the calls that run and at what a call costs. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { post, type Rig, startRig } from "../kit/index.ts";

const long = { min: 1_000 };

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    config: {
      pricing: {
        models: {
          "openai/reads": { input_mtok: 1, output_mtok: 100 },
          "openai/writes": { input_mtok: 10, output_mtok: 1 },
          "anthropic/caches": { input_mtok: 5, cache_write_mtok: 5, cache_read_mtok: 0.5, output_mtok: 1 },
          "openai/forgets": { input_mtok: 4, output_mtok: 1 },
          "*": { input_mtok: 0, output_mtok: 0 },
        },
      },
      routing: {
        circuits: false,
        routes: {
          chosen: {
            tiers: [
              [
                { model: "openai/for-users", when: { user: ["alice*", "bob"] } },
                { model: "openai/for-acme", when: { organisation: "acme" } },
                { model: "openai/for-messages", when: { operation: "mess*" } },
                { model: "openai/for-long", when: { input_tokens: long } },
              ],
              [{ model: "openai/for-short", when: { input_tokens: { max: 999 } } }],
            ],
          },
          nobodys: { tiers: [[{ model: "openai/m", when: { user: "nobody" } }]] },
          longs: { tiers: [[{ model: "openai/m", when: { input_tokens: long } }]] },
          fails: {
            tiers: [
              [
                { model: "openai/m+status-503" },
                { model: "openai/for-long", when: { input_tokens: long } },
                { model: "openai/for-others", when: { user: "nobody" } },
              ],
              [{ model: "openai/for-all" }],
            ],
          },
          busy: {
            strategy: "least_busy",
            tiers: [[{ model: "openai/a+slow-400" }, { model: "openai/b+slow-400", weight: 3 }]],
          },
          streams: { strategy: "least_busy", tiers: [[{ model: "openai/a+pace-30" }, { model: "openai/b+pace-30" }]] },
          cheap: { strategy: "least_cost", tiers: [[{ model: "openai/reads" }, { model: "openai/writes" }]] },
          caching: { tiers: [[{ model: "anthropic/caches" }]] },
          cached: { strategy: "least_cost", tiers: [[{ model: "openai/forgets" }, { model: "anthropic/caches" }]] },
        },
      },
    },
  });
});
beforeEach(() => rig.simulators.clear());
afterEach(() => rig.expectBalancedBooks());
afterAll(() => rig.stop());

const asked = (): string[] =>
  rig.simulators.requests().map(({ body }) => String((JSON.parse(body) as { model: unknown }).model));

interface Asked {
  path?: string;
  content?: unknown;
  more?: object;
  headers?: Record<string, string>;
  user?: string;
  organisation?: string;
}

/** The status of a call and the model that has answered it. */
async function ask(
  model: string,
  { path = "/v1/chat/completions", content = "hi", more, headers = {}, ...of }: Asked = {},
) {
  const { user = crypto.randomUUID(), organisation } = of;
  const owner = organisation === undefined ? { user } : { user, organisation, credits: 0n };
  const token = await rig.gateway.token(owner);
  const body = { model, messages: [{ role: "user", content }], ...more };
  const answer = await post(rig, path, token, body, { headers });
  await answer.text();
  return [answer.status, answer.headers.get("x-tollgate-model")?.replace(/^\w+\//, "")];
}

test("a target is for the calls that its condition describes", async () => {
  expect(await ask("chosen", { user: "alice-1" })).toEqual([200, "for-users"]);
  expect(await ask("chosen", { user: "bob" })).toEqual([200, "for-users"]);
  expect(await ask("chosen", { user: "carol", organisation: "acme" })).toEqual([200, "for-acme"]);
  expect(await ask("chosen", { user: "dave", organisation: "acme-too" })).toEqual([200, "for-short"]);
  expect(await ask("chosen", { path: "/v1/messages", more: { max_tokens: 9 } })).toEqual([200, "for-messages"]);
  expect(await ask("chosen", { content: "word ".repeat(1_000) })).toEqual([200, "for-long"]);
  expect(await ask("chosen")).toEqual([200, "for-short"]);
});

test("a call that no target is for is refused", async () => {
  expect(await ask("nobodys")).toEqual([404, undefined]);
  expect(await ask("longs")).toEqual([404, undefined]);
  const counted = await ask("nobodys", { path: "/v1/messages/count_tokens" });
  expect([counted[0], asked()]).toEqual([404, []]);
});

test("after a failure, too, only targets that are for the call are asked", async () => {
  expect(await ask("fails")).toEqual([200, "for-all"]);
  expect(await ask("fails", { content: "word ".repeat(1_000) })).toEqual([200, "for-long"]);
  expect(asked()).toEqual(["m+status-503", "for-all", "m+status-503", "for-long"]);
});

const counts = (): Record<string, number> => {
  const all: Record<string, number> = {};
  for (const name of asked().map((model) => model.slice(0, 1))) all[name] = (all[name] ?? 0) + 1;
  return all;
};

test("least busy: each call goes where the fewest run for the weight, until they have ended", async () => {
  const calls = Array.from({ length: 8 }, () => ask("busy"));
  expect((await Promise.all(calls)).map(([status]) => status)).toEqual(Array.from({ length: 8 }, () => 200));
  expect(counts()).toEqual({ a: 2, b: 6 });
});

test("least busy: streams count until they end, also those that are left", async () => {
  const token = await rig.gateway.token({ user: "streamer" });
  const open = async (): Promise<Response> =>
    post(rig, "/v1/chat/completions", token, {
      model: "streams",
      stream: true,
      messages: [{ role: "user", content: "words:60" }],
    });
  const first = await Promise.all(Array.from({ length: 4 }, open));
  expect(counts()).toEqual({ a: 2, b: 2 });
  for (const answer of first) await answer.body?.cancel();
  await rig.expectBalancedBooks();
  rig.simulators.clear();
  const later = await Promise.all(Array.from({ length: 4 }, open));
  await Promise.all(later.map((answer) => answer.text()));
  expect(counts()).toEqual({ a: 2, b: 2 });
});

test("least cost: the length of the input and the limit of the output decide", async () => {
  const content = "word ".repeat(8_000);
  expect(await ask("cheap", { content, more: { max_tokens: 20 } })).toEqual([200, "reads"]);
  expect(await ask("cheap")).toEqual([200, "writes"]);
});

test("least cost: what a model's cache has of the session counts", async () => {
  const session = { "x-tollgate-session": "thread-1" };
  const content = [{ type: "text", text: "word ".repeat(8_000), cache_control: { type: "ephemeral" } }];
  const call = (model: string, headers = {}) =>
    ask(model, { path: "/v1/messages", content, headers, more: { max_tokens: 20 } });
  expect(await call("cached", session)).toEqual([200, "forgets"]);
  expect(await call("caching", session)).toEqual([200, "caches"]);
  expect(await call("cached", session)).toEqual([200, "caches"]);
  expect(await call("cached")).toEqual([200, "forgets"]);
});
