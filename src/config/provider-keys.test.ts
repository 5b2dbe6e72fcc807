import { describe, expect, test } from "bun:test";
import { checkConfig, providerKeys } from "./load.ts";

describe("a provider's keys", () => {
  const prod = { name: "prod", secret: "p", weight: 2 };
  test.each<[Parameters<typeof providerKeys>[0], string[]]>([
    [{ keys: [prod, { ...prod, name: "other", secret: "" }] }, ["p"]],
    [{ api_key: "a", keys: [prod] }, ["a", "p"]],
    [{}, []],
    [{ api_key: "" }, []],
    [{ api_key: "a" }, ["a"]],
    [{ api_keys: ["b", "", "c"] }, ["b", "c"]],
    [{ api_key: "a", api_keys: ["b"] }, ["a", "b"]],
  ])("of %j are %j", (provider, keys) => {
    expect(providerKeys(provider).map(({ secret }) => secret)).toEqual(keys);
  });
});

test("a provider's dialects are read", () => {
  const p = { kind: "anthropic", base_url: "http://u.test" };
  const { providers } = checkConfig({ providers: { p: { ...p, dialects: ["messages", "chat"] }, q: p } });
  expect(providers["p"]?.dialects).toEqual(["messages", "chat"]);
  expect(providers["q"]).not.toHaveProperty("dialects");
});
