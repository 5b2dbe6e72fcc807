import { describe, expect, test } from "bun:test";
import { createProvider } from "../providers/index.ts";
import { KeyPool, type UpstreamRoute } from "../routing/index.ts";
import { chooseProvider, type NamedProvider } from "./choose-provider.ts";

type Kind = Parameters<typeof createProvider>[0]["kind"];

const routeOf = (prefix: string, kind: Kind, variable?: string): UpstreamRoute => ({
  prefix,
  aliases: [],
  provider: createProvider({ kind, baseUrl: "http://upstream.test" }),
  baseUrl: "http://upstream.test",
  keys: new KeyPool(["sk-1"], () => 0),
  sandbox: false,
  sharedStores: false,
  listing: { listed: [] },
  requiredVariable: variable,
});

const google = routeOf("google", "google");
const local = routeOf("local", "openai-compatible");
const byteplus = routeOf("byteplus", "byteplus");
const claude = routeOf("claude", "anthropic");
const keyless = routeOf("openai", "openai", "OPENAI_API_KEY");
const openai = routeOf("second", "openai");

function chosen(routes: readonly UpstreamRoute[], named: NamedProvider): string {
  const router = { routes, withPrefix: (prefix: string) => routes.find((route) => route.prefix === prefix) };
  return chooseProvider({ router }, named).route.prefix;
}

describe("without a name", () => {
  test.each<[string, readonly UpstreamRoute[]]>([
    ["second", [google, byteplus, local, openai]],
    ["second", [keyless, local, openai]],
    ["local", [google, local, byteplus]],
    ["local", [keyless, local]],
  ])("%s is meant", (prefix, routes) => {
    expect(chosen(routes, { asked: [], surface: "openai" })).toBe(prefix);
  });

  test.each<[string, readonly UpstreamRoute[]]>([
    ["unsupported_operation", [google]],
    ["provider_without_key", [google, keyless]],
  ])("the refusal is %s", (code, routes) => {
    expect(() => chosen(routes, { asked: [], surface: "openai" })).toThrow(expect.objectContaining({ code }) as Error);
  });
});

describe("with Anthropic's version", () => {
  const named = { asked: [], surface: "anthropic" } as const;

  test("the first provider of that kind is meant, and no other", () => {
    expect(chosen([openai, claude], named)).toBe("claude");
    expect(() => chosen([openai, local], named)).toThrow(expect.objectContaining({ status: 404 }) as Error);
  });

  test("it is not meant without", () => {
    expect(() => chosen([claude], { asked: [], surface: "openai" })).toThrow(
      expect.objectContaining({ code: "unsupported_operation" }) as Error,
    );
  });
});

describe("with a name", () => {
  const routes = [google, local, byteplus, keyless];

  test.each<[NamedProvider]>([
    [{ asked: ["byteplus"], surface: "openai" }],
    [{ asked: ["byteplus", "byteplus"], surface: "openai" }],
    [{ prefix: "byteplus" }],
  ])("%j is found", (named) => {
    expect(chosen(routes, named)).toBe("byteplus");
  });

  test.each<[string, NamedProvider]>([
    ["validation_failed", { asked: ["nobody"], surface: "openai" }],
    ["validation_failed", { asked: [""], surface: "openai" }],
    ["validation_failed", { asked: ["byteplus", "local"], surface: "openai" }],
    ["route_not_found", { prefix: "nobody" }],
    ["unsupported_operation", { asked: ["google"], surface: "openai" }],
    ["unsupported_operation", { prefix: "google" }],
    ["provider_without_key", { prefix: "openai" }],
  ])("the refusal is %s of %j", (code, named) => {
    expect(() => chosen(routes, named)).toThrow(expect.objectContaining({ code }) as Error);
  });
});
