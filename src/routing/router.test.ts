import { describe, expect, test } from "bun:test";
import type { Principal } from "../auth/index.ts";
import type { GatewayError, ModelOperation } from "../core/index.ts";
import { PriceBook } from "../pricing/index.ts";
import { createProvider } from "../providers/index.ts";
import { KeyPool } from "./key-pool.ts";
import { mayUse, ModelRouter, type UpstreamRoute } from "./router.ts";

const clock = () => Date.UTC(2026, 0, 1);

function routeOf(prefix: string, more: Partial<UpstreamRoute> = {}): UpstreamRoute {
  return {
    prefix,
    aliases: [],
    provider: createProvider({ kind: "openai", baseUrl: "https://upstream.test" }),
    baseUrl: "https://upstream.test",
    keys: new KeyPool(["k"], clock),
    sandbox: false,
    sharedStores: false,
    listing: { listed: [] },
    requiredVariable: undefined,
    ...more,
  };
}

const routes = [
  routeOf("openai"),
  routeOf("own", {
    aliases: ["mine", "v.2"],
    provider: createProvider({ kind: "openai-compatible", baseUrl: "https://own.test" }),
    baseUrl: "https://own.test",
  }),
  routeOf("keyless", { keys: new KeyPool([], clock), requiredVariable: "KEYLESS_API_KEY" }),
  routeOf("mute", {
    provider: { ...createProvider({ kind: "openai", baseUrl: "https://mute.test" }), operations: {} },
  }),
];

const operatorPrices = {
  "own/priced": { input_mtok: 1, output_mtok: 1 },
  "own/org/model": { input_mtok: 2, output_mtok: 2 },
  "own/painter": { image: 0.04 },
  "keyless/*": { input_mtok: 1, output_mtok: 1 },
  "mute/*": { input_mtok: 1, output_mtok: 1 },
};
const router = new ModelRouter(routes, new PriceBook({ operatorPrices, unpriced: "refuse", clock }));

const anybody: Principal = {
  tokenId: "t",
  user: "u",
  accountId: "token:t",
  service: false,
  role: "member",
  models: undefined,
  rates: {},
  expiresAt: undefined,
};
const only = (...models: string[]): Principal => ({ ...anybody, models });

const resolve = (modelId: string, principal = anybody) => router.resolve(modelId, ["chat"], principal);

function refusal(modelId: string, principal?: Principal, operation: ModelOperation = "chat") {
  try {
    router.resolve(modelId, [operation], principal ?? anybody);
  } catch (error) {
    const { code, status, param, message } = error as GatewayError;
    return { code, status, param, message };
  }
  throw new Error(`${modelId} was routed`);
}

describe("a model id", () => {
  test.each<[string, string, string]>([
    ["own/priced", "own", "priced"],
    ["mine/priced", "own", "priced"],
    ["v.2/priced", "own", "priced"],
    ["own/org/model", "own", "org/model"],
    ["openai/gpt-4o-mini", "openai", "gpt-4o-mini"],
  ])("%p is routed to %p, under the name %p", (modelId, prefix, model) => {
    const target = resolve(modelId);
    expect({ prefix: target.route.prefix, model: target.model, modelId: target.modelId }).toEqual({
      prefix,
      model,
      modelId,
    });
    expect(target.operation.path).toBe("/chat/completions");
  });

  test("has the same price under any of its provider's prefixes", () => {
    expect(resolve("mine/org/model").price).toEqual(resolve("own/org/model").price);
    expect(resolve("own/org/model").price.source).toBe("config");
    expect(resolve("openai/gpt-4o-mini").price.source).toBe("built-in");
  });

  test.each(["priced", "", "/", "/priced", "own", "//", "other/"])("%p has no prefix", (modelId) => {
    expect(refusal(modelId)).toMatchObject({ code: "model_not_routed", status: 404, param: "model" });
    expect(refusal(modelId).message).toContain("has no provider prefix");
  });

  test.each([
    ["own/", "own"],
    ["mine/", "mine"],
  ])("%p has a prefix but no name", (modelId, prefix) => {
    expect(refusal(modelId)).toEqual({
      code: "model_not_routed",
      status: 404,
      param: "model",
      message: `The model "${modelId}" has no name after its prefix; write ${prefix}/<model>.`,
    });
  });

  test.each(["other/x", "Own/priced", "own /priced", "__proto__/x", "constructor/x", "own.x/priced", "../own/priced"])(
    "%p has an unknown prefix",
    (modelId) => {
      const { message, ...otherFields } = refusal(modelId);
      expect(otherFields).toEqual({ code: "model_not_routed", status: 404, param: "model" });
      expect(message).toContain("No provider has the prefix");
      expect(message).toContain("Prefixes here: openai, own, mine, v.2, keyless, mute.");
    },
  );

  test("is shortened in an error", () => {
    expect(refusal("x".repeat(250)).message.length).toBeLessThan(250);
    expect(refusal(`${"x".repeat(200)}/y`).message.length).toBeLessThan(250);
    expect(refusal(`own/${"x".repeat(200)}`, only("nothing")).message.length).toBeLessThan(250);
  });

  test("is quoted in an error, so that it can't be mistaken for other parts of the message", () => {
    expect(refusal('a" or "b/x').message).toContain(String.raw`"a\" or \"b"`);
  });
});

describe("a call is refused", () => {
  test("without a price; the error names the setting to add", () => {
    expect(refusal("own/unpriced")).toEqual({
      code: "model_unpriced",
      status: 404,
      param: "model",
      message:
        'The model "own/unpriced" is not known here. Did you mean own/priced? If the provider has it, the operator must set pricing.models."own/unpriced" in the configuration.',
    });
  });

  test("without a price; the setting contains the provider's prefix even if the caller used an alias", () => {
    expect(refusal("mine/unpriced").message).toContain('The model "mine/unpriced" is not known here.');
    expect(refusal("mine/unpriced").message).toContain('must set pricing.models."own/unpriced" in');
  });

  test("without a price for the requested operation; the error names the operation", () => {
    expect(refusal("own/painter")).toMatchObject({ code: "model_unpriced", status: 404, param: "model" });
    expect(refusal("own/painter").message).toContain(
      'The model "own/painter" has no price for the chat operation, and',
    );
  });

  test("without a key; the error names the variable to set", () => {
    expect(refusal("keyless/x")).toMatchObject({ code: "provider_without_key", status: 404, param: "model" });
    expect(refusal("keyless/x").message).toBe(
      "The provider keyless has no key. The operator must set KEYLESS_API_KEY.",
    );
  });

  test("if the provider lacks the operation", () => {
    expect(refusal("mute/x")).toMatchObject({
      code: "unsupported_operation",
      status: 404,
      message: "The provider mute has no chat operation. It has none.",
    });
  });

  test("by the token's models first: the error reveals no missing key, price or operation", () => {
    for (const modelId of ["own/unpriced", "keyless/x", "mute/x", "own/priced"]) {
      expect(refusal(modelId, only("openai/*")).message).toContain("does not exist, or this token may not use it");
    }
  });
});

describe("a token may use", () => {
  test.each<[string[] | undefined, string, boolean]>([
    [undefined, "own/priced", true],
    [[], "own/priced", false],
    [["own/*"], "own/priced", true],
    [["own/*"], "mine/priced", true],
    [["mine/*"], "own/priced", true],
    [["v.2/priced"], "mine/priced", true],
    [["v.2/priced"], "own/org/model", false],
    [["openai/*"], "mine/priced", false],
    [["*"], "mine/priced", true],
    [["openai/*", "own/priced"], "own/priced", true],
    [["own/price"], "own/priced", false],
    [[""], "own/priced", false],
  ])("with the globs %j the model %p: %p", (models, modelId, isAllowed) => {
    const principal = { ...anybody, models };
    const canonical = modelId.replace(/^mine\//, "own/");
    const [, own] = routes;
    if (own === undefined) throw new Error("no route");
    // The list of models and the router apply the same rule.
    expect(mayUse(principal, own, canonical.slice("own/".length))).toBe(isAllowed);
    if (isAllowed) expect(resolve(modelId, principal)).toMatchObject({ modelId, route: { prefix: "own" } });
    else expect(refusal(modelId, principal).message).toContain("this token may not use it");
  });
});

test("every model of BytePlus's catalog has a price", () => {
  const byteplus = routeOf("byteplus", { provider: createProvider({ kind: "byteplus", baseUrl: "https://b.test" }) });
  const { models } = byteplus.provider;
  const listed = models.from === "catalog" ? models.models : [];
  expect(listed).toHaveLength(9);
  expect(listed.filter(({ id }) => router.priceOf(byteplus, id) === undefined)).toEqual([]);
});

test("an unpriced model is free if the operator configured that", () => {
  const generous = new ModelRouter(routes, new PriceBook({ operatorPrices: {}, unpriced: "free", clock }));
  expect(generous.resolve("own/anything", ["chat"], anybody).price.source).toBe("unpriced");
});
