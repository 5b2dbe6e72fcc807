import { describe, expect, test } from "bun:test";
import { changesOf } from "./changes.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { checkConfig } from "./load.ts";
import type { Config } from "./schema.ts";

const openai = { kind: "openai", base_url: "https://api.openai.com/v1", api_key: "sk-one" };

const configOf = (value: object): Config => checkConfig({ providers: { openai }, ...value });

describe("the changes of a configuration", () => {
  test("are paths without values", () => {
    const change = changesOf(
      configOf({}),
      configOf({
        providers: { openai: { ...openai, api_key: "sk-two" }, other: { ...openai, api_key: "sk-three" } },
        pricing: { markup: 2 },
        log: { level: "debug" },
      }),
    );
    expect(change).toMatchObject({
      changed: ["log.level", "providers.openai", "providers.other", "pricing.markup"],
      needRestart: [],
    });
    expect(JSON.stringify([change.changed, change.needRestart])).not.toContain("sk-");
  });

  test("of listeners, storage and the key of stored secrets wait for a restart", () => {
    const before = configOf({});
    const change = changesOf(
      before,
      configOf({
        server: { port: 1, body_limit: 5 },
        storage: "sqlite:other.db",
        storage_journal: "elsewhere",
        metrics: {},
        upstream: { client: "fetch", retries: 5 },
        webhooks: { encryption_key: "x".repeat(40) },
      }),
    );
    expect(change.needRestart).toEqual([
      "server.port",
      "server.body_limit",
      "storage",
      "storage_journal",
      "upstream.client",
      "webhooks.encryption_key",
      "metrics",
    ]);
    expect(change.changed).toEqual(["upstream.retries"]);
    expect(change.config).toEqual({ ...before, upstream: { ...before.upstream, retries: 5 } });
  });

  test("are none for the same configuration, however it is written", () => {
    expect(changesOf(configOf({}), configOf({ pricing: { markup: "1" }, log: {} }))).toMatchObject({
      changed: [],
      needRestart: [],
    });
  });
});

describe("a fingerprint", () => {
  const base = { pricing: { markups: { "*": 1.1, "openai/*": 1.2 } } };
  const of = (value: object): Record<string, string> => fingerprintOf(configOf({ ...base, ...value }));

  test("does not depend on keys of providers, nor on the order of members", () => {
    const one = fingerprintOf(configOf({ providers: { a: openai, b: openai } }));
    const other = fingerprintOf(
      configOf({ providers: { b: { ...openai, api_key: "sk-other" }, a: { api_keys: ["k"], ...openai } } }),
    );
    expect(one).toEqual(other);
  });

  test.each<[string, object, string[]]>([
    ["a price", { pricing: { ...base.pricing, models: { "openai/x": { input_mtok: 1 } } } }, ["prices"]],
    ["the order of globs", { pricing: { markups: { "openai/*": 1.2, "*": 1.1 } } }, ["prices"]],
    ["an address", { providers: { openai: { ...openai, base_url: "https://eu.api.openai.com/v1" } } }, ["providers"]],
    ["an alias", { models: { aliases: { "gpt-*": "openai/gpt-*" } } }, ["routes"]],
    ["a route", { routing: { routes: { fast: { tiers: [[{ model: "openai/gpt-4o" }]] } } } }, ["routes"]],
    ["a limit", { files: { per_user_max: 5 } }, []],
  ])("differs by %s", (_title, value, parts) => {
    const [one, other] = [of({}), of(value)];
    expect(Object.keys(one).filter((part) => one[part] !== other[part])).toEqual(parts);
  });
});
