import { beforeEach, describe, expect, test } from "bun:test";
import { parseCredits } from "../core/index.ts";
import { PriceBook } from "../pricing/index.ts";
import { router as plain } from "./__fixtures__/upstreams.ts";
import { circuitIdOf } from "./health/circuits.ts";
import { explainRoute } from "./explain-route.ts";
import { KeyPool } from "./key-pool.ts";
import type { ModelRoute } from "./model-routes.ts";
import { Overrides } from "./health/overrides.ts";
import { ModelRouter, type UpstreamRoute } from "./router.ts";

const target = (model: string, more: object = {}) => ({ model, weight: 1, on: new Set(["broken"] as const), ...more });
const limits = { attempts: 4, deadlineMs: 1, attemptMsMax: 1, wholeMsMax: 1, headMsMax: 1, commit: undefined };
const named = (tiers: ModelRoute["tiers"], more: Partial<ModelRoute> = {}): ModelRoute => ({
  name: "fast",
  strategy: "order",
  limits,
  tiers,
  ...more,
});
const everything = named([
  [target("openai/m"), target("azure/hidden"), target("xai/long", { when: { inputTokens: { min: 100, max: 1_000 } } })],
  [target("google/acme", { when: { organisation: ["acme"] } }), target("mistral/m"), target("anthropic/claude")],
]);

let overrides: Overrides;
let keys: KeyPool;
beforeEach(() => {
  overrides = new Overrides(() => 0);
  keys = new KeyPool(["k"], () => 0);
});

function routerOf(route: ModelRoute): ModelRouter {
  const prices = new PriceBook({
    operatorPrices: { "*": { input_mtok: 1, output_mtok: 2 }, "openai/sold": { input_mtok: 10, output_mtok: 20 } },
    unpriced: "refuse",
    clock: () => 0,
  });
  const routes = plain.routes.map((each): UpstreamRoute => {
    if (each.prefix === "azure") return { ...each, internal: new Set(["hidden"]) };
    if (each.prefix === "mistral") return { ...each, requiredVariable: "MISTRAL_API_KEY" };
    return each.prefix === "openai" ? { ...each, keys } : each;
  });
  return new ModelRouter(routes, prices, { modelRoutes: [route], overrides, aliases: { quick: "fast" } });
}

const anyone = { models: undefined };
const question = {
  modelId: "fast",
  operation: "chat" as const,
  caller: anyone,
  availableFor: () => undefined,
  usage: undefined,
  openUntil: () => undefined,
};

function explain(more: Partial<Parameters<typeof explainRoute>[1]> = {}, route = everything) {
  return explainRoute(routerOf(route), { ...question, ...more });
}
const states = (...asked: Parameters<typeof explain>): Record<string, string> =>
  Object.fromEntries(explain(...asked).targets.map(({ model, why = "asked" }) => [model, why]));

test("a route has all its targets, those that the call could not have with the reason", () => {
  expect(explain({ modelId: "quick" })).toMatchObject({ route: "fast", strategy: "order" });
  expect(states()).toEqual({
    "openai/m": "asked",
    "azure/hidden": "asked",
    "xai/long": "asked",
    "google/acme": "not_for_call",
    "mistral/m": "no_key",
    "anthropic/claude": "asked",
  });
  expect(explain().targets.map(({ tier }) => tier)).toEqual([1, 1, 1, 2, 2, 2]);
  expect(explain().targets[4]?.message).toContain("MISTRAL_API_KEY");
});

test("conditions about the caller, the operation and the input", () => {
  expect(states({ caller: { ...anyone, organisation: "acme" } })["google/acme"]).toBe("asked");
  expect(states({ usage: { input: 99, output: 1 } })["xai/long"]).toBe("not_for_call");
  expect(states({ usage: { input: 100, output: 1 } })["xai/long"]).toBe("asked");
  expect(states({ operation: "speech" })).toMatchObject({ "anthropic/claude": "no_operation" });
});

test("the token's list: its globs for each target, or the route's name for all", () => {
  expect(states({ caller: { models: ["openai/*"] } })).toMatchObject({
    "openai/m": "asked",
    "azure/hidden": "not_allowed",
    "anthropic/claude": "not_allowed",
  });
  expect(states({ caller: { models: ["fast"] } })).toMatchObject({ "azure/hidden": "asked", "xai/long": "asked" });
  // Nobody may name an internal model.
  expect(states({ modelId: "azure/hidden" })).toEqual({ "azure/hidden": "not_allowed" });
});

describe("failures before and decisions by hand", () => {
  test("a disabled provider or model", () => {
    overrides.replace([
      { target: "openai", until: undefined, reason: undefined, actor: "a", createdAt: 0 },
      { target: "xai/long", until: undefined, reason: undefined, actor: "a", createdAt: 0 },
    ]);
    expect(states()).toMatchObject({ "openai/m": "disabled", "xai/long": "disabled", "azure/hidden": "asked" });
  });

  test("an open circuit, until when", () => {
    const own = circuitIdOf(routerOf(everything).resolveModel("openai/m", ["chat"], anyone));
    const [first] = explain({ openUntil: (id) => (id === own ? 7_000 : undefined) }).targets;
    expect(first).toMatchObject({ why: "left_out", until: 7_000 });
  });

  test("keys that are refused for the operation, and not for another one", () => {
    keys = new KeyPool(["k", { secret: "l", models: ["other"] }], () => 0);
    const [id = ""] = keys.ids;
    keys.adopt({ keyId: id, operation: "/chat/completions" }, "refused");
    expect(states()).toMatchObject({ "openai/m": "key_refused", "azure/hidden": "asked" });
    expect(states({ modelId: "openai/other" })).toEqual({ "openai/other": "asked" });
    expect(states({ modelId: "openai/m", operation: "embeddings" })).toEqual({ "openai/m": "asked" });
  });
});

describe("the price", () => {
  test("is the target's with the token's markup, or that which the route sells at", () => {
    const usage = { input: 1_000_000, output: 1_000_000 };
    const costs = (...asked: Parameters<typeof explain>) => explain(...asked).targets.map(({ cost }) => cost);
    const tiers = [[target("openai/m"), target("azure/m"), target("mistral/m")]];
    const credits = (amount: string): bigint[] => Array.from({ length: 3 }, () => parseCredits(amount));
    expect(costs({ usage }, named(tiers))).toEqual(credits("3"));
    expect(costs({ usage, caller: { ...anyone, markup: 1_500_000 } }, named(tiers))).toEqual(credits("4.5"));
    expect(costs({ usage }, named(tiers, { priceOf: "openai/sold" }))).toEqual(credits("30"));
  });

  test("beyond the credits that are left", () => {
    const usage = { input: 1_000_000, output: 0 };
    const left = (available: string, more = {}) =>
      states({ availableFor: () => parseCredits(available), modelId: "openai/m", ...more })["openai/m"];
    expect(left("0.999999999", { usage })).toBe("unaffordable");
    expect(left("1", { usage })).toBe("asked");
    // Without a usage: not even a token.
    expect([left("0"), left("0.000003")]).toEqual(["unaffordable", "asked"]);
    const availableFor = (model: string) => (model === "openai/m" ? 0n : undefined);
    expect(states({ availableFor })).toMatchObject({ "openai/m": "unaffordable", "azure/hidden": "asked" });
  });
});

test("a model is its own only target, and a name that is nothing is refused", () => {
  expect(explain({ modelId: "openai/m" })).toMatchObject({
    route: undefined,
    targets: [{ model: "openai/m", tier: 1 }],
  });
  for (const modelId of ["nothing", "nobody/m", "openai/", ""])
    expect(() => explain({ modelId })).toThrow(expect.objectContaining({ code: "model_not_routed" }));
});
