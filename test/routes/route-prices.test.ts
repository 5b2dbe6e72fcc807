/** Routes that sell at one price, answer calls beyond the caller's budget, and call models that nobody can name. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Caller, oneCredit, post, type Rig, startRig } from "../kit/index.ts";

let rig: Rig;
let caller: Caller;
beforeAll(async () => {
  const over = { tiers: [[{ model: "openai/dear" }, { model: "openai/dear-too" }, { model: "mistral/cheap" }]] };
  rig = await startRig({
    config: {
      pricing: {
        models: {
          "openai/dear*": { requests_kcount: 10_000 },
          "openai/sold": { input_mtok: 10, output_mtok: 20 },
          "xai/*": { input_mtok: 1, output_mtok: 2 },
          "*": { input_mtok: 1, output_mtok: 2 },
        },
      },
      models: { aliases: { hidden: "anthropic/claude-hidden" } },
      routing: {
        circuits: false,
        routes: {
          refuses: over,
          next: { ...over, over_budget: "next" },
          other: { ...over, over_budget: "xai/grok-cheap+status-503" },
          sells: { tiers: [[{ model: "mistral/m+status-503" }, { model: "xai/grok-4" }]], price_of: "openai/sold" },
          inside: {
            tiers: [[{ model: "anthropic/claude-hidden", internal: true }, { model: "mistral/open" }]],
          },
        },
      },
    },
  });
});
beforeEach(async () => {
  rig.simulators.clear();
  caller = await rig.caller();
});
afterEach(() => rig.expectBalancedBooks());
afterAll(() => rig.stop());

const hello = (model: string, more: object = {}): object => ({
  model,
  max_tokens: 10,
  messages: [{ role: "user", content: "hi" }],
  ...more,
});
const asked = (): string[] =>
  rig.simulators.requests().map(({ body }) => String((JSON.parse(body) as { model: unknown }).model));

/** A token of a user with one credit. */
const poor = (models?: string[]): Promise<string> =>
  rig.gateway.token({ user: crypto.randomUUID(), credits: oneCredit, ...(models && { models }) });
const ask = async (token: string, model: string, headers = {}): Promise<[number, string | null]> => {
  const answer = await post(rig, "/v1/chat/completions", token, hello(model), { headers });
  await answer.text();
  return [answer.status, answer.headers.get("x-tollgate-model")];
};

describe("a first target that the credits do not suffice for", () => {
  test("is a refusal of the call, if the route says nothing", async () => {
    expect([await ask(await poor(), "refuses"), asked()]).toEqual([[402, null], []]);
  });

  test("is followed by the next one that they suffice for", async () => {
    expect(await ask(await poor(), "next")).toEqual([200, "mistral/cheap"]);
    expect(asked()).toEqual(["cheap"]);
    expect(await ask(caller.token, "next")).toEqual([200, "openai/dear"]);
  });

  test("is followed by one that the token may use", async () => {
    expect(await ask(await poor(["openai/*"]), "next")).toEqual([402, null]);
    expect(asked()).toEqual([]);
  });

  test("is followed by the route's model for that alone", async () => {
    expect(await ask(await poor(), "other")).toEqual([503, "xai/grok-cheap+status-503"]);
    expect(new Set(asked())).toEqual(new Set(["grok-cheap+status-503"]));
  });

  test("is one that a budget has no room for, too", async () => {
    const token = await rig.gateway.token({ user: crypto.randomUUID(), maxBudget: oneCredit });
    expect(await ask(token, "next")).toEqual([200, "mistral/cheap"]);
  });

  test("is no reason to pass over a limit of the token", async () => {
    const token = await rig.gateway.token({ user: crypto.randomUUID(), credits: oneCredit, rpm: 1 });
    expect(await ask(token, "next")).toEqual([200, "mistral/cheap"]);
    expect(await ask(token, "next")).toEqual([429, null]);
  });

  test("and none that they suffice for is a refusal", async () => {
    const token = await rig.gateway.token({ user: crypto.randomUUID(), credits: 1n });
    expect([await ask(token, "next"), asked()]).toEqual([[402, null], []]);
  });
});

test("a route with the price of a model charges that, whichever target answers and whatever it reports", async () => {
  for (const stream of [false, true]) {
    const one = await rig.caller();
    const answer = await one.chat(hello("sells", { stream }));
    expect([answer.status, answer.headers.get("x-tollgate-model")]).toEqual([200, "xai/grok-4"]);
    await answer.text();
    const id = answer.headers.get("x-request-id") ?? "";
    const own = await fetch(`${rig.gateway.url}/v1/generations/${id}`, {
      headers: { authorization: `Bearer ${one.token}` },
    });
    const usage = (await own.json()) as { input_tokens: number; output_tokens: number };
    const spent = await one.closed();
    expect(usage.output_tokens).toBeGreaterThan(0);
    expect(spent).toBe(BigInt(usage.input_tokens * 10_000 + usage.output_tokens * 20_000));
  }
});

test("the list of models has the price of the route", async () => {
  const headers = { authorization: `Bearer ${caller.token}` };
  const one = await fetch(`${rig.gateway.url}/v1/models/sells`, { headers });
  expect(await one.json()).toMatchObject({ id: "sells", pricing: { input_mtok: 10, output_mtok: 20 } });
});

describe("an internal target", () => {
  test("answers calls of its route, and cannot be named by anybody", async () => {
    expect(await ask(caller.token, "inside")).toEqual([200, "anthropic/claude-hidden"]);
    for (const model of ["anthropic/claude-hidden", "claude/claude-hidden", "hidden"])
      expect([model, await ask(caller.token, model)]).toEqual([model, [404, null]]);
    const headers = { "x-tollgate-fallback": "anthropic/claude-hidden" };
    expect(await ask(caller.token, "mistral/m+status-503", headers)).toEqual([503, "mistral/m+status-503"]);
    expect(asked().filter((model) => model === "claude-hidden")).toHaveLength(1);
  });

  test("is not listed, and its route is", async () => {
    const headers = { authorization: `Bearer ${caller.token}` };
    const listed = await fetch(`${rig.gateway.url}/v1/models`, { headers });
    const { data } = (await listed.json()) as { data: { id: string }[] };
    const ids = data.map(({ id }) => id);
    expect(ids).toContain("inside");
    expect(ids).not.toContain("anthropic/claude-hidden");
    expect(ids).not.toContain("hidden");
    const one = await fetch(`${rig.gateway.url}/v1/models/anthropic/claude-hidden`, { headers });
    expect(one.status).toBe(404);
    await one.arrayBuffer();
  });

  test("is allowed by the route's name, or by its own", async () => {
    expect(await ask(await poor(["inside"]), "inside")).toEqual([200, "anthropic/claude-hidden"]);
    expect(await ask(await poor(["anthropic/*"]), "inside")).toEqual([200, "anthropic/claude-hidden"]);
    expect(await ask(await poor(["mistral/*"]), "inside")).toEqual([200, "mistral/open"]);
  });

  test("its route's name in a token's list allows no other model by the caller's own fallbacks", async () => {
    const token = await poor(["refuses"]);
    const headers = { "x-tollgate-fallback": "xai/grok-4" };
    expect(await ask(token, "refuses", headers)).toEqual([402, null]);
    const inside = await poor(["sells"]);
    expect(await ask(inside, "sells", headers)).toEqual([503, "mistral/m+status-503"]);
    expect(asked()).not.toContain("grok-4");
  });
});
