import { describe, expect, test } from "bun:test";
import { loadConfig } from "../../config/index.ts";
import { importConfig } from "./import-config.ts";

const deployment = (name: string, model: string, more: object = {}, info?: object) => ({
  model_name: name,
  litellm_params: { model, ...more },
  ...(info && { model_info: info }),
});

/** Each variable that the text names has some address as its value. */
const variablesIn = (text: string) =>
  Object.fromEntries([...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = ""]) => [name, "https://upstream.invalid"]));

/** Converts, and checks that the gateway starts with the result. */
function convert(file: object) {
  const imported = importConfig(file);
  const text = JSON.stringify(imported.config);
  loadConfig({ file: "x", text, variables: variablesIn(text) });
  return imported;
}

describe("keys", () => {
  test("are references to the same variables, one of each provider and address", () => {
    const { config, newVariables } = convert({
      model_list: [
        deployment("a", "openai/gpt-4o", { api_key: "os.environ/ONE" }),
        deployment("b", "gpt-4o-mini", { api_key: "os.environ/TWO", weight: 3 }),
        deployment("c", "anthropic/claude-haiku-4-5"),
        deployment("d", "openai/gpt-4o", { api_key: "os.environ/ONE", api_base: "http://10.0.0.1/v1" }),
      ],
    });
    expect(newVariables).toEqual([]);
    expect(config["providers"]).toEqual({
      openai: {
        kind: "openai",
        base_url: "https://api.openai.com/v1",
        keys: [
          { name: "ONE", secret: "${ONE}", models: ["gpt-4o"] },
          { name: "TWO", secret: "${TWO}", weight: 3, models: ["gpt-4o-mini"] },
        ],
      },
      anthropic: {
        kind: "anthropic",
        base_url: "https://api.anthropic.com",
        keys: [{ name: "ANTHROPIC_API_KEY", secret: "${ANTHROPIC_API_KEY}" }],
      },
      "openai-2": {
        kind: "openai-compatible",
        base_url: "http://10.0.0.1/v1",
        keys: [{ name: "ONE", secret: "${ONE}" }],
      },
    });
  });

  test("in the file itself are nowhere in the result, nor in the report", () => {
    const secret = "sk-ant-very-secret";
    const file = {
      model_list: [
        deployment("a", "anthropic/x", { api_key: secret }),
        deployment("b", "anthropic/y", { api_key: secret }),
        deployment("c", "openai/z", { litellm_credential_name: "shared" }),
      ],
      credential_list: [{ credential_name: "shared", credential_values: { api_key: `${secret}-2` } }],
      general_settings: { master_key: `${secret}-3`, database_url: `postgres://u:${secret}@h/d` },
      environment_variables: { ANTHROPIC_API_KEY: secret },
    };
    const { config, findings, newVariables } = convert(file);
    expect(newVariables.map(({ name }) => name)).toEqual(["ANTHROPIC_IMPORTED_KEY_1", "OPENAI_IMPORTED_KEY_2"]);
    expect(JSON.stringify([config, findings.all, newVariables])).not.toContain(secret);
  });
});

describe("names", () => {
  test("of one model are aliases, of several routes, with fallbacks as further tiers", () => {
    const { config, permits } = convert({
      model_list: [
        deployment("fast", "openai/gpt-4o-mini"),
        deployment("big", "openai/gpt-4o", { rpm: 100 }),
        deployment("big", "azure/big-eu", { api_base: "os.environ/AZURE_BASE", rpm: 300 }),
        deployment("big", "xai/grok-4", { order: 2 }),
        deployment("team/own", "groq/llama"),
        deployment("openai/gpt-4o-mini", "openai/gpt-4o-mini"),
        deployment("openai/other", "anthropic/claude-haiku-4-5"),
        deployment("gpt-*", "openai/gpt-*"),
        deployment("none", "bedrock/x"),
      ],
      litellm_settings: {
        fallbacks: [{ fast: ["big"] }, { none: ["big"] }],
        context_window_fallbacks: [{ fast: ["big"] }],
      },
      router_settings: {
        model_group_alias: { smart: "big", "openai/smart": { model: "big", hidden: true }, gone: "none" },
      },
    });
    const big = [
      [
        { model: "openai/gpt-4o", weight: 100 },
        { model: "azure/big-eu", weight: 300 },
      ],
      [{ model: "xai/grok-4" }],
    ];
    expect(config["routing"]).toEqual({
      routes: {
        fast: {
          strategy: "weighted",
          tiers: [
            [{ model: "openai/gpt-4o-mini" }],
            ["openai/gpt-4o", "azure/big-eu", "xai/grok-4"].map((model) => ({
              model,
              on: ["context_window", "unavailable"],
            })),
          ],
        },
        big: { strategy: "weighted", tiers: big },
        "openai/other": { strategy: "weighted", tiers: [[{ model: "anthropic/claude-haiku-4-5" }]] },
        "openai/smart": { strategy: "weighted", tiers: big },
      },
    });
    expect(config["models"]).toEqual({
      aliases: { "team/own": "groq/llama", "gpt-*": "openai/gpt-*", smart: "big" },
    });
    expect(Object.fromEntries(permits)).toMatchObject({
      fast: ["fast"],
      "team/own": ["groq/llama"],
      "openai/gpt-4o-mini": ["openai/gpt-4o-mini"],
      smart: ["big"],
    });
    expect(permits.has("none")).toBe(false);
  });

  test("of groups in lists stand for the names in them", () => {
    const { permits } = convert({
      model_list: [
        deployment("a", "openai/a", {}, { access_groups: ["beta"] }),
        deployment("b", "openai/b", {}, { access_groups: ["beta", "b"] }),
      ],
    });
    expect([permits.get("beta"), permits.get("b")]).toEqual([["openai/a", "openai/b"], ["openai/b"]]);
  });
});

test("prices are those of a million tokens, without the errors of binary fractions", () => {
  const { config, findings } = convert({
    model_list: [
      deployment("a", "openai/a", { input_cost_per_token: 0.0000003, output_cost_per_token: "1.1e-6" }),
      deployment("b", "openai/b", {}, { input_cost_per_token: 0, output_cost_per_token: 0, max_input_tokens: 128_000 }),
      deployment("c", "openai/a", { input_cost_per_token: 0.000001 }),
      deployment("d", "ollama/llama3"),
      deployment("e", "hosted_vllm/own", { api_base: "http://10.0.0.1/v1" }),
    ],
  });
  expect(config["pricing"]).toEqual({
    models: {
      "openai/a": { input_mtok: 0.3, output_mtok: 1.1 },
      "openai/b": { input_mtok: 0, output_mtok: 0, context_window: 128_000 },
      "ollama/*": { input_mtok: 0, output_mtok: 0 },
    },
  });
  const byHand = findings.all.filter(({ fidelity }) => fidelity === "by hand").map(({ field }) => field);
  expect(byHand).toEqual(["model_list.2", "hosted_vllm/own"]);
});

test("every field is reported, whatever it is", () => {
  const { findings } = convert({
    model_list: [deployment("a", "openai/a", { new_param: 1, timeout: 5 }, { new_info: 1 }), { model_name: "broken" }],
    litellm_settings: { new_setting: 1, num_retries: 20, request_timeout: 0.5, cache: true },
    router_settings: { routing_strategy: "usage-based-routing", new_router: { a: 1 } },
    general_settings: { new_general: 1, master_key: "sk-1" },
    environment_variables: { A: "b" },
    include: ["other.yaml"],
  });
  const fidelityOf = Object.fromEntries(findings.all.map(({ field, fidelity }) => [field, fidelity]));
  expect(fidelityOf).toMatchObject({
    "model_list.0.litellm_params.model": "exact",
    "model_list.0.litellm_params.new_param": "by hand",
    "model_list.0.litellm_params.timeout": "by hand",
    "model_list.0.model_info.new_info": "by hand",
    "model_list.1": "by hand",
    "litellm_settings.new_setting": "by hand",
    "litellm_settings.cache": "impossible",
    "router_settings.routing_strategy": "approximate",
    "router_settings.new_router": "by hand",
    "general_settings.new_general": "by hand",
    "general_settings.master_key": "by hand",
    "environment_variables.A": "by hand",
    include: "by hand",
  });
});

test.each([[["a"]], [{ model_list: "x" }], ["text"], [null], [{ router_settings: [] }]])(
  "%j is no configuration of LiteLLM",
  (value: unknown) => {
    expect(() => importConfig(value)).toThrow(TypeError);
  },
);

test("hostile names end in no exception but those of the form", () => {
  const names = ["__proto__", "constructor", "a*b*c", "*", "x".repeat(5_000), "é/ü", "a/b/c", "openai/", "/", "sk-1"];
  const list = names.flatMap((name) => names.map((model) => deployment(name, model)));
  const { findings } = importConfig({ model_list: list, router_settings: { model_group_alias: { a: "__proto__" } } });
  expect(findings.all.length).toBeGreaterThan(list.length);
});
