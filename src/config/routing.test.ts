import { describe, expect, test } from "bun:test";
import { failureTraits, keysOf } from "../core/index.ts";
import { ConfigError } from "./values/interpolate.ts";
import { checkConfig } from "./load.ts";
import { failuresIn } from "./routing.ts";

const providers = { p: { kind: "openai", base_url: "http://u.test", api_key: "k", aliases: ["q"] } };
const withRoutes = (routes: object, more: object = {}) => checkConfig({ providers, routing: { routes }, ...more });

const pathOf = (run: () => unknown): string => {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof ConfigError) return thrown.message;
    throw thrown;
  }
  return "nothing is wrong";
};

test("a target has a weight and the failures that it is tried after", () => {
  const { routing } = withRoutes({
    fast: { tiers: [[{ model: "p/a" }, { model: "q/b", weight: "3", on: ["rate_limited"] }]] },
  });
  expect(routing.routes["fast"]).toEqual({
    strategy: "order",
    tiers: [
      [
        { model: "p/a", weight: 1, on: ["unavailable", "context_window"] },
        { model: "q/b", weight: 3, on: ["rate_limited"] },
      ],
    ],
  });
});

describe("a start is stopped, with the path, by", () => {
  const whenOf = (when: object): object => ({ fast: { tiers: [[{ model: "p/a", when }]] } });
  const tiers = (model: string): object => ({ tiers: [[{ model: "p/a" }], [{ model }]] });
  test.each<[string, object, string]>([
    ["an unknown prefix of a target", { fast: tiers("nobody/m") }, "routing.routes.fast.tiers.1.0.model"],
    ["a target without a prefix", { fast: tiers("other") }, "routing.routes.fast.tiers.1.0.model"],
    ["a target with a glob", { fast: tiers("p/*") }, "routing.routes.fast.tiers.1.0.model"],
    ["an unknown prefix of a route", { "nobody/m": tiers("p/b") }, "routing.routes.nobody/m"],
    ["a route without targets", { fast: { tiers: [] } }, "routing.routes.fast.tiers"],
    ["an empty tier", { fast: { tiers: [[]] } }, "routing.routes.fast.tiers.0"],
    [
      "an unknown class",
      { fast: { tiers: [[{ model: "p/a", on: ["often"] }]] } },
      "routing.routes.fast.tiers.0.0.on.0",
    ],
    ["an unknown strategy", { fast: { ...tiers("p/b"), strategy: "best" } }, "routing.routes.fast.strategy"],
    ["an unknown key", { fast: { ...tiers("p/b"), when: {} } }, "routing.routes.fast.when"],
    ["an unknown condition", whenOf({ model: "p/a" }), "routing.routes.fast.tiers.0.0.when"],
    ["a condition without a glob", whenOf({ user: [] }), "routing.routes.fast.tiers.0.0.when.user"],
    [
      "a length that is none",
      whenOf({ input_tokens: { min: -1 } }),
      "routing.routes.fast.tiers.0.0.when.input_tokens.min",
    ],
    [
      "an unknown prefix to go to over budget",
      { fast: { ...tiers("p/b"), over_budget: "x/y" } },
      "routing.routes.fast.over_budget",
    ],
    [
      "a route to go to over budget",
      { fast: { ...tiers("p/b"), over_budget: "slow" } },
      "routing.routes.fast.over_budget",
    ],
    ["an unknown prefix of a price", { fast: { ...tiers("p/b"), price_of: "x/y" } }, "routing.routes.fast.price_of"],
  ])("%s", (_title, routes, path) => {
    expect(pathOf(() => withRoutes(routes))).toContain(path);
  });
});

test("an alias may name a route, but nothing else without a prefix", () => {
  const routes = { fast: { tiers: [[{ model: "p/a" }]] } };
  expect(withRoutes(routes, { models: { aliases: { "gpt-*": "fast" } } }).models.aliases).toEqual({ "gpt-*": "fast" });
  expect(pathOf(() => withRoutes(routes, { models: { aliases: { "gpt-*": "slow" } } }))).toContain(
    "models.aliases.gpt-*",
  );
});

test("unavailable stands for every class that says so", () => {
  const all = keysOf(failureTraits).filter((name) => failureTraits[name].isUnavailable);
  expect(all).toHaveLength(9);
  expect([...failuresIn(["unavailable", "content_policy"])]).toEqual([...all, "content_policy"]);
});
