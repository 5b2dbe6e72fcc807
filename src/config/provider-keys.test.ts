import { describe, expect, test } from "bun:test";
import { providerKeys } from "./load.ts";

describe("a provider's keys", () => {
  test.each<[Parameters<typeof providerKeys>[0], string[]]>([
    [{}, []],
    [{ api_key: "" }, []],
    [{ api_key: "a" }, ["a"]],
    [{ api_keys: ["b", "", "c"] }, ["b", "c"]],
    [{ api_key: "a", api_keys: ["b"] }, ["a", "b"]],
  ])("of %j are %j", (provider, keys) => {
    expect(providerKeys(provider)).toEqual(keys);
  });
});
