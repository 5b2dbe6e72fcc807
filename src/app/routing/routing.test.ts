import { expect, test } from "bun:test";
import { loadConfig } from "../../config/index.ts";
import { principalOf, worldOf } from "../../sending/__fixtures__/upstreams.ts";
import { changedProviders, createModelRouter } from "./routing.ts";

const configOf = (target: object, provider: object = {}) =>
  loadConfig({
    text: JSON.stringify({
      providers: { p: { kind: "openai", base_url: "http://u.test", api_key: "k", ...provider } },
      pricing: { models: { "*": { input_mtok: 1, output_mtok: 2 } } },
      routing: { routes: { fast: { tiers: [[{ model: "p/m", ...target }]] } } },
    }),
    file: "tollgate.yaml",
    variables: {},
  }).config;

test("a model that a reload makes internal is callable by its routes alone, and its provider keeps its keys", () => {
  const { environment } = worldOf(() => new Response());
  const parts = { missingKeys: new Map(), sandbox: new Map(), environment };
  const first = { config: configOf({}) };
  const before = { ...first, router: createModelRouter({ ...parts, ...first }) };
  const calls = (router: typeof before.router, model: string) => () =>
    router.resolve(model, ["chat"], principalOf("u"));
  expect(calls(before.router, "p/m")).not.toThrow();

  const router = createModelRouter({ ...parts, config: configOf({ internal: true }) }, before);
  expect(calls(router, "p/m")).toThrow("does not exist");
  expect(calls(router, "fast")).not.toThrow();
  expect(calls(before.router, "p/m")).not.toThrow();
  expect(changedProviders(router, before.router)).toEqual([]);

  const other = createModelRouter({ ...parts, config: configOf({}, { api_key: "l" }) }, before);
  expect(changedProviders(other, before.router).map(({ prefix }) => prefix)).toEqual(["p"]);
});

test("where simulators answer, no operation of a provider has the provider's own address", () => {
  const { environment } = worldOf(() => new Response());
  const { config } = loadConfig({ text: "", file: "tollgate.yaml", variables: {} });
  const sandbox = new Map(Object.keys(config.providers).map((prefix) => [prefix, `http://127.0.0.1:1/${prefix}/v1`]));
  const router = createModelRouter({ config, missingKeys: new Map(), sandbox, environment });
  const addresses = [...sandbox.keys()].flatMap((prefix) => {
    const { provider, baseUrl } = router.withPrefix(prefix) ?? {};
    const operations = Object.values(provider?.operations ?? {});
    return operations.flatMap((operation) => [operation, operation.forPrefill]).map((each) => each?.baseUrl ?? baseUrl);
  });
  expect(addresses.length).toBeGreaterThan(20);
  expect(addresses.filter((address) => address?.startsWith("http://127.0.0.1:1/") !== true)).toEqual([]);
});
