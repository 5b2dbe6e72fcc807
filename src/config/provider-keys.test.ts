import { describe, expect, test } from "bun:test";
import { providerKeys } from "./load.ts";

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
