import { describe, expect, test } from "bun:test";
import { ConfigError, interpolate } from "./interpolate.ts";

const variables = { HOST: "box", EMPTY: "", PORT: "9", CHAIN: "${HOST}", lower_1: "ok" };

describe("a text with variables", () => {
  test.each<[string, string]>([
    ["plain", "plain"],
    ["${HOST}", "box"],
    ["http://${HOST}:${PORT}/v1", "http://box:9/v1"],
    ["${lower_1}", "ok"],
    ["${MISSING:-there}", "there"],
    ["${MISSING:-}", ""],
    ["${EMPTY:-there}", "there"],
    ["${HOST:-there}", "box"],
    ["${MISSING:-http://x:1/y?z=1}", "http://x:1/y?z=1"],
    // The value of a variable is not interpolated again.
    ["${CHAIN}", "${HOST}"],
    ["$HOST ${} ${1X} $${HOST", "$HOST ${} ${1X} $${HOST"],
  ])("%p is %p", (text, replaced) => {
    expect(interpolate({ key: text }, variables).value).toEqual({ key: replaced });
  });

  test("is replaced at any depth", () => {
    const source = { a: [{ b: "${HOST}" }, "${PORT}"], c: { d: { e: "${HOST}" } }, n: 1, t: true, z: null };
    expect(interpolate(source, variables).value).toEqual({
      a: [{ b: "box" }, "9"],
      c: { d: { e: "box" } },
      n: 1,
      t: true,
      z: null,
    });
  });

  test("is not replaced in a key", () => {
    expect(interpolate({ "${HOST}": 1 }, variables).value).toEqual({ "${HOST}": 1 });
  });
});

describe("a variable that is not set", () => {
  test.each<[object, string]>([
    [{ storage: "${MISSING}" }, "config: storage: the variable MISSING is not set"],
    [{ server: { host: "${HOST}${MISSING}" } }, "config: server.host: the variable MISSING is not set"],
    [
      { web: { allow_private_hosts: ["a", "${EMPTY}"] } },
      "config: web.allow_private_hosts.1: the variable EMPTY is not set",
    ],
    [{ providers: { a: { base_url: "${MISSING}" } } }, "config: providers.a.base_url: the variable MISSING is not set"],
    [{ web: { search: { api_key: "${MISSING}" } } }, "config: web.search.api_key: the variable MISSING is not set"],
  ])("stops the startup: %j", (source, message) => {
    expect(() => interpolate(source, variables)).toThrow(new ConfigError("", message.slice("config: ".length)));
  });

  test.each<[object, object, [string, string][]]>([
    [{ api_key: "${MISSING}" }, {}, [["providers.p.api_key", "MISSING"]]],
    [{ api_key: "${EMPTY}" }, {}, [["providers.p.api_key", "EMPTY"]]],
    [{ api_key: "sk-${MISSING}" }, {}, [["providers.p.api_key", "MISSING"]]],
    [{ api_key: "${MISSING:-}" }, { api_key: "" }, []],
    [
      { api_keys: ["${MISSING}", "k2", "${ALSO}"] },
      { api_keys: ["k2"] },
      [
        ["providers.p.api_keys.0", "MISSING"],
        ["providers.p.api_keys.2", "ALSO"],
      ],
    ],
  ])("removes that key from its provider: %j", (provider, remaining, missing) => {
    const { value, missingKeys } = interpolate({ providers: { p: provider } }, variables);
    expect(value).toEqual({ providers: { p: remaining } });
    expect([...missingKeys]).toEqual(missing);
  });

  test("is also recorded for a prefix with dots", () => {
    expect([...interpolate({ providers: { "my.own.vllm": { api_key: "${MISSING}" } } }, {}).missingKeys]).toEqual([
      ["providers.my.own.vllm.api_key", "MISSING"],
    ]);
  });
});
