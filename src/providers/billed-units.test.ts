/** What requests ask for and answers report besides tokens: service tiers, places, hosted tools, sound. */
import { describe, expect, test } from "bun:test";
import type { JsonObject, ObservedUsage, Usage } from "../core/index.ts";
import type { UpstreamOperation } from "./provider.ts";
import { createProvider, type ProviderChoice } from "./registry.ts";

type Named = keyof ReturnType<typeof createProvider>["operations"];

function operationOf(kind: ProviderChoice["kind"], name: Named, preset?: ProviderChoice["preset"]): UpstreamOperation {
  const operation = createProvider({ kind, preset, baseUrl: "https://upstream.example" }).operations[name];
  if (operation === undefined) throw new Error(`${kind} has no ${name}`);
  return operation;
}

const extras = (operation: UpstreamOperation, body: JsonObject, model = "m") => operation.extras?.(body, model) ?? {};

/** What the tools of a request may buy, one by one; undefined for one that nobody knows. */
const bought = (
  operation: UpstreamOperation,
  { tools = [], ...body }: JsonObject & { tools?: readonly JsonObject[] },
) => tools.map((tool) => operation.readTool?.(tool, { ...body, tools }, "m"));

/** The units besides tokens and the call itself. */
function unitsOf(observed: ObservedUsage | undefined): Usage {
  const { webSearches, previewSearches, storageSearches, containerGb } = observed?.usage ?? {};
  return {
    ...(previewSearches !== undefined && { previewSearches }),
    ...(webSearches !== undefined && { webSearches }),
    ...(storageSearches !== undefined && { storageSearches }),
    ...(containerGb !== undefined && { containerGb }),
  };
}

describe("a requested service tier", () => {
  const openai = operationOf("openai", "chat");

  test.each<[unknown, object]>([
    ["priority", { terms: { serviceTier: "priority" } }],
    ["flex", { terms: { serviceTier: "flex" } }],
    ["fast", { terms: { serviceTier: "priority" } }],
    ["ultrafast", { terms: { serviceTier: "ultrafast" } }],
    ["of_tomorrow", { terms: { serviceTier: "of_tomorrow" } }],
    ["auto", {}],
    ["default", {}],
    ["", {}],
    [null, {}],
    [undefined, {}],
    [7, {}],
    [{ priority: true }, {}],
    [["priority"], {}],
  ])("%j", (service_tier, asked) => {
    expect(extras(openai, { service_tier })).toEqual(asked);
    expect(extras(operationOf("openai", "responses"), { service_tier })).toEqual(asked);
  });

  test("is no term where it is not sent, or costs as much", () => {
    expect(extras(operationOf("google", "chat"), { service_tier: "priority" })).toEqual({});
    expect(extras(operationOf("openai-compatible", "chat", "mistral"), { service_tier: "priority" })).toEqual({});
    const groq = operationOf("openai-compatible", "chat", "groq");
    expect(extras(groq, { service_tier: "flex" })).toEqual({});
    expect(extras(groq, { service_tier: "performance" })).toEqual({ terms: { serviceTier: "performance" } });
  });

  test("of Messages is its speed, and the place of the model counts too", () => {
    const messages = operationOf("anthropic", "messages");
    expect(extras(messages, { speed: "fast", inference_geo: "us" })).toEqual({
      terms: { serviceTier: "fast", inferenceGeo: "us" },
    });
    expect(extras(messages, { inference_geo: "us" })).toEqual({ terms: { inferenceGeo: "us" } });
    expect(extras(messages, { speed: "standard", inference_geo: "global", service_tier: "auto" })).toEqual({});
  });
});

describe("the terms of an answer", () => {
  test("are those that it names, the usual ones included", () => {
    const chat = operationOf("openai", "chat");
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    expect(chat.readUsage({ usage, service_tier: "priority" })?.terms).toEqual({ serviceTier: "priority" });
    expect(chat.readUsage({ usage, service_tier: "fast" })?.terms).toEqual({ serviceTier: "priority" });
    expect(chat.readUsage({ usage, service_tier: "default" })?.terms).toEqual({ serviceTier: "default" });
    expect(chat.readUsage({ usage, service_tier: null })?.terms).toBeUndefined();
    expect(chat.readUsage({ usage })?.terms).toBeUndefined();
  });

  test("of a response are its own or its event's", () => {
    const responses = operationOf("openai", "responses");
    const response = {
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
      service_tier: "flex",
      output: [],
    };
    expect(responses.readUsage(response)?.terms).toEqual({ serviceTier: "flex" });
    expect(responses.readUsage({ type: "response.completed", response })?.terms).toEqual({ serviceTier: "flex" });
  });

  test("of a message are in its usage; its service tier is capacity at the usual price", () => {
    const messages = operationOf("anthropic", "messages");
    const usage = { input_tokens: 1, output_tokens: 1, service_tier: "priority" };
    expect(messages.readUsage({ usage })?.terms).toBeUndefined();
    expect(messages.readUsage({ usage: { ...usage, speed: "fast", inference_geo: "us" } })?.terms).toEqual({
      serviceTier: "fast",
      inferenceGeo: "us",
    });
    expect(messages.readUsage({ usage: { ...usage, inference_geo: "not_available" } })?.terms).toEqual({
      inferenceGeo: "not_available",
    });
  });
});

describe("hosted tools of Messages", () => {
  const messages = operationOf("anthropic", "messages");
  const ofTool = { field: "max_uses", within: "tool" } as const;
  const search = (max_uses?: unknown) => ({ type: "web_search_20250305", name: "web_search", max_uses });

  test.each<[JsonObject, object | undefined]>([
    [search(3), { units: { webSearches: 3 } }],
    [search(), { units: { webSearches: 1 }, limit: ofTool }],
    [search(null), { units: { webSearches: 1 }, limit: ofTool }],
    [search("5"), { units: { webSearches: 1 }, limit: ofTool }],
    [search(0), { units: {} }],
    [search(-1), { units: {} }],
    [
      { type: "web_search_20260318", name: "web_search" },
      { units: { webSearches: 1 }, limit: ofTool },
    ],
    [{ type: "web_fetch_20250910", name: "web_fetch" }, {}],
    [{ type: "code_execution_20250825", name: "code_execution" }, {}],
    [{ type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" }, {}],
    [{ type: "bash_20250124", name: "bash" }, {}],
    [{ type: "computer_toolset_20260801" }, {}],
    [{ type: "mcp_toolset", mcp_server_name: "s" }, {}],
    [{ name: "web_search", input_schema: {} }, {}],
    [{ type: "custom", name: "web_search", input_schema: {} }, {}],
    [
      { type: "advisor_20260301", name: "advisor", model: "claude-opus-5" },
      { helper: { model: "claude-opus-5", runs: 1, outputTokens: 2_048 }, limit: ofTool },
    ],
    [
      { type: "advisor_20260301", name: "advisor", model: "claude-opus-5", max_uses: 2, max_tokens: 1_024 },
      { helper: { model: "claude-opus-5", runs: 2, outputTokens: 1_024 } },
    ],
    [{ type: "advisor_20260301", name: "advisor" }, undefined],
    [{ type: "web_search_of_tomorrow", name: "web_search" }, undefined],
  ])("a request with %j", (tool, asked) => {
    expect(bought(messages, { tools: [tool] })).toEqual([asked]);
  });

  test("are counted in the usage", () => {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const searched = { ...usage, server_tool_use: { web_search_requests: 2, web_fetch_requests: 7 } };
    expect(unitsOf(messages.readUsage({ usage: searched }))).toEqual({ webSearches: 2 });
    expect(unitsOf(messages.readUsage({ usage: { ...usage, server_tool_use: null } }))).toEqual({});
  });
});

const ofAll = { field: "max_tool_calls", within: "body" } as const;

describe("hosted tools of Responses", () => {
  const responses = operationOf("openai", "responses");
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };

  const code = (container?: unknown): JsonObject => ({ type: "code_interpreter", container });
  const shell = (environment?: unknown): JsonObject => ({ type: "shell", environment });

  test.each<[JsonObject & { tools: readonly JsonObject[] }, object]>([
    [{ tools: [{ type: "web_search" }] }, { units: { webSearches: 1 }, limit: ofAll }],
    [{ tools: [{ type: "web_search_2025_08_26" }] }, { units: { webSearches: 1 }, limit: ofAll }],
    [{ tools: [{ type: "web_search_preview" }], max_tool_calls: 2 }, { units: { previewSearches: 2 } }],
    [{ tools: [{ type: "web_search_preview_2025_03_11" }] }, { units: { previewSearches: 1 }, limit: ofAll }],
    [{ tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }] }, { units: { storageSearches: 1 }, limit: ofAll }],
    [{ tools: [code({ type: "auto" })] }, { units: { containerGb: 1 } }],
    [{ tools: [code()] }, { units: { containerGb: 1 } }],
    [{ tools: [code({ type: "auto", memory_limit: null })] }, { units: { containerGb: 1 } }],
    [{ tools: [code({ type: "auto", memory_limit: "16g" })] }, { units: { containerGb: 16 } }],
    [{ tools: [code("cntr_1")] }, { units: {} }],
    [{ tools: [shell({ type: "container_auto" })] }, { units: { containerGb: 1 } }],
    [{ tools: [shell({ type: "container_auto", memory_limit: "64g" })] }, { units: { containerGb: 64 } }],
    [{ tools: [shell({ type: "container_reference", container_id: "cntr_1" })] }, { units: {} }],
    [{ tools: [shell({ type: "local" })] }, { units: {} }],
    [{ tools: [shell()] }, { units: {} }],
    [
      { tools: [{ type: "image_generation", quality: "low", size: "1024x1024" }] },
      { others: [{ model: "gpt-image-1", usage: { outputImage: 272 } }], limit: ofAll },
    ],
    [
      {
        tools: [{ type: "image_generation", model: "gpt-image-1-mini", quality: "low", size: "1024x1024" }],
        max_tool_calls: 1,
      },
      { others: [{ model: "gpt-image-1-mini", usage: { outputImage: 272 } }] },
    ],
    [
      { tools: [{ type: "image_generation", quality: "low", size: "1024x1024" }], max_tool_calls: 5 },
      { others: [{ model: "gpt-image-1", usage: { outputImage: 5 * 272 } }] },
    ],
    [{ tools: [{ type: "function", name: "web_search" }] }, {}],
    [{ tools: [{ type: "mcp" }] }, {}],
    [{ tools: [{ type: "namespace", name: "n", tools: [{ type: "custom", name: "c" }] }] }, {}],
  ])("a request with %j", (body, asked) => {
    expect(bought(responses, body)).toEqual([asked]);
  });

  test.each<JsonObject>([
    { type: "web_search_of_tomorrow" },
    { type: "browser" },
    { type: 7 },
    {},
    { type: "namespace", name: "n", tools: [{ type: "web_search" }] },
  ])("nobody knows what %j buys", (tool) => {
    expect(bought(responses, { tools: [tool] })).toEqual([undefined]);
  });

  test.each([code({ type: "auto", memory_limit: "128g" }), shell({ type: "container_auto", memory_limit: 4 })])(
    "the memory of %j is refused by its name",
    (tool) => {
      const read = () => bought(responses, { tools: [tool] });
      expect(read).toThrow(expect.objectContaining({ status: 422, param: "tools" }));
      expect(read).toThrow("memory_limit");
    },
  );

  test("searches are those that the answer tells, else the items that searched", () => {
    const output = [
      { type: "web_search_call", action: { type: "search", query: "x" } },
      { type: "web_search_call", action: { type: "open_page", url: "https://x.test" } },
      { type: "web_search_call" },
      { type: "file_search_call", queries: ["x"] },
    ];
    const read = (more: object) => unitsOf(responses.readUsage({ usage, output, ...more }));
    expect(read({})).toEqual({ webSearches: 2, storageSearches: 1 });
    expect(read({ tool_usage: { web_search: { num_requests: 5 } } })).toEqual({ webSearches: 5, storageSearches: 1 });
    expect(read({ tool_usage: { web_search: { num_requests: 0 } } })).toEqual({ storageSearches: 1 });
    const tools = [{ type: "web_search_preview", search_context_size: "low" }];
    expect(read({ tools })).toEqual({ previewSearches: 2, storageSearches: 1 });
  });

  test("containers are counted once each, by their memory", () => {
    const run = (container_id: string) => ({ type: "code_interpreter_call", container_id, code: "1" });
    const output = [run("cntr_1"), run("cntr_1"), run("cntr_2")];
    const tools = [{ type: "code_interpreter", container: { type: "auto", memory_limit: "4g" } }];
    expect(unitsOf(responses.readUsage({ usage, output, tools }))).toEqual({ containerGb: 8 });
    expect(unitsOf(responses.readUsage({ usage, output }))).toEqual({ containerGb: 2 });
    expect(unitsOf(responses.readUsage({ usage, output: [], tools }))).toEqual({});
  });

  test("containers of shells are counted too, each by the memory of its own tool", () => {
    const inShell = (container_id: string) => ({
      type: "shell_call",
      action: { commands: ["ls"] },
      environment: { type: "container_reference", container_id },
    });
    const inCode = (container_id: string) => ({ type: "code_interpreter_call", container_id, code: "1" });
    const tools = [
      shell({ type: "container_auto", memory_limit: "64g" }),
      code({ type: "auto", memory_limit: "4g" }),
      { type: "function", name: "f" },
    ];
    const read = (output: readonly JsonObject[], given: readonly JsonObject[] = tools) =>
      unitsOf(responses.readUsage({ usage, output, tools: given }));
    expect(read([inShell("cntr_1"), inShell("cntr_1"), inCode("cntr_2")])).toEqual({ containerGb: 68 });
    expect(read([inShell("cntr_1"), inShell("cntr_2")])).toEqual({ containerGb: 128 });
    // One container for both is begun once, by the larger of them.
    expect(read([inCode("cntr_1"), inShell("cntr_1")])).toEqual({ containerGb: 64 });
    // The client's own shell, and containers that the request names.
    expect(read([{ type: "shell_call", environment: { type: "local" } }, { type: "shell_call" }])).toEqual({});
    const named = [shell({ type: "container_reference", container_id: "cntr_1" }), code("cntr_2")];
    expect(read([inShell("cntr_1"), inCode("cntr_2")], named)).toEqual({});
    expect(read([inShell("cntr_1"), inCode("cntr_3")], named)).toEqual({ containerGb: 1 });
  });

  test("images are counted with their own model's price", () => {
    const tools = [{ type: "image_generation", model: "gpt-image-1.5" }];
    const image_gen = {
      input_tokens: 10,
      input_tokens_details: { text_tokens: 10, image_tokens: 0 },
      output_tokens: 1_056,
      output_tokens_details: { text_tokens: 0, image_tokens: 1_056 },
      total_tokens: 1_066,
    };
    const observed = responses.readUsage({ usage, output: [], tools, tool_usage: { image_gen } });
    expect(observed?.usage).toMatchObject({ input: 11, output: 1, outputImage: 1_056, requests: 1 });
    expect(observed?.others).toMatchObject([{ model: "gpt-image-1.5", usage: { input: 10, outputImage: 1_056 } }]);
  });

  test("images without counts are estimated from their size and quality", () => {
    const item = { type: "image_generation_call", result: "AAAA", size: "1024x1024", quality: "medium" };
    const none = { type: "image_generation_call", result: null, status: "failed" };
    const observed = responses.readUsage({ usage, output: [item, none], tools: [{ type: "image_generation" }] });
    expect(observed?.others).toEqual([{ model: "gpt-image-1", usage: { outputImage: 1_056 } }]);
    // Nothing told, the most that it may have had.
    const bare = responses.readUsage({ usage, output: [{ type: "image_generation_call", result: "AAAA" }] });
    expect(bare?.others).toEqual([{ model: "gpt-image-1", usage: { outputImage: 6_240 } }]);
  });

  test("of xAI are counted if its answer has no price", () => {
    const xai = operationOf("xai", "responses");
    const output = [{ type: "web_search_call" }, { type: "x_search_call" }, { type: "file_search_call" }];
    expect(unitsOf(xai.readUsage({ usage: { ...usage, num_server_side_tools_used: 4 }, output }))).toEqual({
      webSearches: 3,
      storageSearches: 1,
    });
    expect(unitsOf(xai.readUsage({ usage, output }))).toEqual({ webSearches: 2, storageSearches: 1 });
    expect(xai.readUsage({ usage: { ...usage, cost_in_usd_ticks: 70 }, output })?.reportedCost).toBe(7n);
    expect(bought(xai, { tools: [{ type: "web_search" }, { type: "x_search" }] })).toEqual([
      { units: { webSearches: 10 } },
      { units: { webSearches: 10 } },
    ]);
  });

  test("of BytePlus are counted in its usage", () => {
    const byteplus = operationOf("byteplus", "responses");
    expect(unitsOf(byteplus.readUsage({ usage: { ...usage, tool_usage: { web_search: 2 } } }))).toEqual({
      webSearches: 2,
    });
    expect(bought(byteplus, { tools: [{ type: "web_search" }] })).toEqual([
      { units: { webSearches: 1 }, limit: ofAll },
    ]);
    const images = operationOf("byteplus", "image_generation");
    expect(extras(images, { tools: [{ type: "web_search" }], n: 2 })).toEqual({ toolUnits: { webSearches: 20 } });
    const answer = { data: [{ url: "x" }], usage: { generated_images: 1, tool_usage: { web_search: 3 } } };
    expect(unitsOf(images.readUsage(answer))).toEqual({ webSearches: 3 });
  });
});

describe("writes to a cache", () => {
  const buckets = (observed: ObservedUsage | undefined) => {
    const { cacheWrite5m = 0, cacheWrite1h = 0, input } = observed?.usage ?? {};
    return [input, cacheWrite5m, cacheWrite1h, observed?.hasUnsplitWrites === true];
  };

  test.each<[JsonObject, (number | boolean)[]]>([
    [
      { cache_write_tokens: 60, cache_write_tokens_details: { ttl_30m_tokens: 20, ttl_12h_tokens: 40 } },
      [40, 20, 40, false],
    ],
    [{ cache_write_tokens: 60, cache_write_tokens_details: { ttl_12h_tokens: 99 } }, [40, 0, 60, false]],
    [{ cache_write_tokens: 60, cache_write_tokens_details: {} }, [40, 60, 0, false]],
    [{ cache_write_tokens: 60 }, [40, 60, 0, true]],
    [{}, [100, 0, 0, false]],
  ])("%j of Responses are %j", (input_tokens_details, read) => {
    const usage = { input_tokens: 100, input_tokens_details, output_tokens: 1, total_tokens: 101 };
    expect(buckets(operationOf("openai", "responses").readUsage({ usage }))).toEqual(read);
  });

  test("of chat are not split by their lifetimes", () => {
    const usage = { prompt_tokens: 100, prompt_tokens_details: { cache_write_tokens: 60 }, completion_tokens: 1 };
    expect(buckets(operationOf("openai", "chat").readUsage({ usage }))).toEqual([40, 60, 0, true]);
  });
});

describe("chat", () => {
  const chat = operationOf("openai", "chat");
  const hears = { messages: [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "AAAA" } }] }] };

  test.each<[JsonObject, object]>([
    [{ modalities: ["text", "audio"], audio: { voice: "alloy" } }, { ownPrices: ["outputAudio"] }],
    [hears, { ownPrices: ["inputAudio"] }],
    [{ ...hears, modalities: ["audio"] }, { ownPrices: ["outputAudio", "inputAudio"] }],
    [{ modalities: ["text"], messages: [{ role: "user", content: "hi" }] }, {}],
    [{ messages: "hi" }, {}],
  ])("with sound, %j, needs a price for it", (body, asked) => {
    expect(extras(chat, body)).toEqual(asked);
  });

  test("of a model that searches counts a search, and so does a request for one", () => {
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    expect(extras(chat, {}, "gpt-4o-search-preview")).toEqual({ fixedUnits: { webSearches: 1 } });
    expect(extras(chat, { web_search_options: {} }, "gpt-5")).toEqual({ fixedUnits: { webSearches: 1 } });
    // It is charged with any answer, which does not count it.
    expect(unitsOf(chat.readUsage({ usage, model: "gpt-4o-search-preview-2025-03-11" }))).toEqual({});
  });

  const compatible = (preset: ProviderChoice["preset"]) => operationOf("openai-compatible", "chat", preset);
  const upstreams: [string, UpstreamOperation][] = [
    ["Google", operationOf("google", "chat")],
    ["xAI", operationOf("xai", "chat")],
    ["Anthropic", operationOf("anthropic", "chat")],
    ["BytePlus", operationOf("byteplus", "chat")],
    ["OpenAI", chat],
    ...(["generic", "deepseek", "groq", "mistral", "moonshot"] as const).map((preset): [string, UpstreamOperation] => [
      preset,
      compatible(preset),
    ]),
  ];

  test.each(upstreams)("of %s knows functions alone: its answers do not tell what else has run", (_name, operation) => {
    const f = { function: { name: "f" } };
    expect(
      bought(operation, { tools: [{ type: "function", ...f }, f, { type: "custom", custom: { name: "c" } }] }),
    ).toEqual([{}, {}, {}]);
    const unknown = [
      { google_search: {} },
      { type: "browser_search" },
      { type: "code_interpreter" },
      { type: "web_search_premium" },
      { type: "builtin_function", function: { name: "$web_search" } },
      { type: "live_search", sources: [] },
    ];
    expect(bought(operation, { tools: unknown })).toEqual(unknown.map(() => undefined));
  });

  test.each<[string, UpstreamOperation, JsonObject, string]>([
    ["Google", operationOf("google", "chat"), { extra_body: { google: { tools: [] } } }, "extra_body.google.tools"],
    ["Google", operationOf("google", "chat"), { web_search_options: {} }, "web_search_options"],
    ["xAI", operationOf("xai", "chat"), { search_parameters: { mode: "on" } }, "search_parameters"],
    ["Mistral", compatible("mistral"), { web_search_options: {} }, "web_search_options"],
    ["OpenAI", chat, { search_parameters: {} }, "search_parameters"],
    ["any other", compatible("generic"), { models: ["a", "b"] }, "models"],
    ["any other", compatible("generic"), { enable_search: true }, "enable_search"],
    ["OpenRouter", compatible("openrouter"), { search_parameters: {} }, "search_parameters"],
    ["OpenRouter", compatible("openrouter"), { plugins: [{ id: "web" }, { id: "fusion" }] }, "plugins.1.id"],
  ])("of %s refuses by name what it cannot price: %#", (_name, operation, body, param) => {
    expect(() => extras(operation, body)).toThrow(expect.objectContaining({ status: 422, param }));
  });

  test("takes what buys nothing", () => {
    const google = { extra_body: { google: { thinking_config: {}, cached_content: "c", safety_settings: [] } } };
    expect(extras(operationOf("google", "chat"), google)).toEqual({});
    expect(extras(operationOf("xai", "chat"), { search_parameters: { mode: "off" } })).toEqual({});
    expect(extras(compatible("generic"), { models: [], plugins: null, enable_search: false, other: 1 })).toEqual({});
  });

  test.each<[JsonObject, string, object]>([
    [{ plugins: [{ id: "web" }] }, "a/b", { fixedUnits: { webSearches: 1 } }],
    [
      { plugins: [{ id: "web", max_results: 11 }, { id: "response-healing" }] },
      "a/b",
      { fixedUnits: { webSearches: 3 } },
    ],
    [{ plugins: [{ id: "web", enabled: false }] }, "a/b", {}],
    [{}, "a/b:online", { fixedUnits: { webSearches: 1 } }],
    [{ web_search_options: { search_context_size: "high" } }, "a/b", { fixedUnits: { webSearches: 1 } }],
    [{ models: ["a/b", "c/d", 7] }, "a/b", { alternatives: { models: [{ model: "c/d" }] } }],
    [{}, "openrouter/auto", { alternatives: { models: [], chosenBy: "model" } }],
    [{ models: ["openrouter/auto"] }, "a/b", { alternatives: { models: [], chosenBy: "models" } }],
    [{ preset: "mine" }, "a/b", { alternatives: { models: [], chosenBy: "preset" } }],
  ])("of OpenRouter reads %j for %s", (body, model, asked) => {
    expect(extras(compatible("openrouter"), body, model)).toEqual(asked);
    expect(extras(operationOf("openai-compatible", "completion", "openrouter"), body, model)).toEqual(asked);
  });

  test("of OpenRouter names the model that has answered, and its searches are tools too", () => {
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    expect(compatible("openrouter").readUsage({ usage, model: "c/d" })?.answeredBy).toBe("c/d");
    const tools = [{ type: "openrouter:web_search" }, { type: "openrouter:datetime" }, { type: "openrouter:advisor" }];
    expect(bought(compatible("openrouter"), { tools })).toEqual([{ units: { webSearches: 10 } }, {}, undefined]);
  });
});
