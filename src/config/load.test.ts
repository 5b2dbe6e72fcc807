import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultProviders } from "./defaults.ts";
import { ConfigError, interpolate } from "./values/interpolate.ts";
import { checkConfig, loadConfig } from "./load.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-config-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(text: string, name = "tollgate.yaml"): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const load = (text: string, variables: Record<string, string> = {}) => loadConfig({ file: fileOf(text), variables });

/** The sample of the contract, as an operator would write it. */
const sample = `
server: { host: 127.0.0.1, port: 8787, body_limit: 32MiB }
storage: sqlite:data/tollgate.db          # or postgres://user:pass@host/db
providers:                                # the key is the model prefix
  openai:    { kind: openai,    base_url: https://api.openai.com/v1, api_key: "\${OPENAI_API_KEY}" }
  google:    { kind: google,    base_url: https://generativelanguage.googleapis.com, api_key: "\${GEMINI_API_KEY}" }
  xai:       { kind: xai,       base_url: https://api.x.ai/v1, api_key: "\${XAI_API_KEY}" }
  deepseek:  { kind: openai-compatible, base_url: https://api.deepseek.com/v1, api_key: "\${DEEPSEEK_API_KEY}" }
  anthropic: { kind: anthropic, base_url: https://api.anthropic.com, api_key: "\${ANTHROPIC_API_KEY}", aliases: [claude] }
  mistral:   { kind: openai-compatible, base_url: https://api.mistral.ai/v1, api_key: "\${MISTRAL_API_KEY}" }
  byteplus:  { kind: byteplus,  base_url: https://ark.ap-southeast.bytepluses.com/api/v3, api_key: "\${ARK_API_KEY}" }
web:
  engine: native                          # or firecrawl: relay to { base_url, api_key }
  search: { backend: local }              # or searxng | brave | firecrawl, each with base_url / api_key
  allow_private_hosts: []                 # host or host:port globs that the SSRF guard lets through
pricing:
  markup: 1.0
  models: { "openai/my-model": { input_mtok: 1.25, output_mtok: 10 } }
`;

const allKeys = [
  "OPENAI_API_KEY",
  "GEMINI_API_KEY",
  "XAI_API_KEY",
  "DEEPSEEK_API_KEY",
  "ANTHROPIC_API_KEY",
  "MISTRAL_API_KEY",
  "ARK_API_KEY",
];

describe("the contract's sample", () => {
  test("loads, and missing keys are reported", () => {
    const { config, missingKeys } = load(sample, { XAI_API_KEY: "xk" });
    expect(config.server).toMatchObject({ host: "127.0.0.1", port: 8787, body_limit: 32 * 1024 * 1024 });
    expect(config.providers["xai"]).toEqual({
      kind: "xai",
      base_url: "https://api.x.ai/v1",
      api_key: "xk",
      aliases: [],
      shared_stores: false,
    });
    expect(config.providers["anthropic"]?.aliases).toEqual(["claude"]);
    expect(config.pricing.models["openai/my-model"]).toEqual({ input_mtok: 1.25, output_mtok: 10 });
    expect([...missingKeys]).toEqual([
      ["openai", "OPENAI_API_KEY"],
      ["google", "GEMINI_API_KEY"],
      ["deepseek", "DEEPSEEK_API_KEY"],
      ["anthropic", "ANTHROPIC_API_KEY"],
      ["mistral", "MISTRAL_API_KEY"],
      ["byteplus", "ARK_API_KEY"],
    ]);
  });

  test("contains the default providers", () => {
    const variables = Object.fromEntries(allKeys.map((name) => [name, `key of ${name}`]));
    const { config, missingKeys } = load(sample, variables);
    expect(missingKeys.size).toBe(0);
    expect(checkConfig(interpolate({ providers: defaultProviders }, variables).value).providers).toEqual(
      config.providers,
    );
  });
});

const perUser = { per_user: 20, bytes_per_user: 2 ** 30 };
const crawl = { pages_per_second: 5, connections_per_host: 2, pages: 16, retry_after_max: 60_000, ...perUser };

const routing = { attempt_timeout: 30_000, whole_timeout: 300_000, head_wait: 15_000, circuits: true, routes: {} };
const native = "native" as const;
const served = { code_interpreter: native, code_execution: native, file_search: native, shell: native };
const own = { web_search: "auto", web_fetch: "auto", tool_search: "auto", image_generation: "auto" } as const;
const tools = { hosted: { ...own, ...served }, deadline: 600_000 } as const;
const stored = { storage_migrate: "start", storage_journal: "data/journal", tools } as const;
const minimal = "providers: { p: { kind: openai, base_url: http://u.test, api_key: k } }\n";
const keptFiles = { file_max: 209_715_200, keep: 2_505_600_000, bytes_per_user: 2 ** 30 };
describe("absent keys", () => {
  test("have default values", () => {
    expect(load(minimal).config).toEqual({
      server: { host: "127.0.0.1", port: 8787, body_limit: 33_554_432, body_timeout: 120_000, drain: 60_000 },
      auth: { issuers: [], sign_in: {}, sessions: { idle: 7_200_000, max: 43_200_000 } },
      models: {},
      mcp: { models: {}, calls: 512, allow_server_urls: [], servers: {}, sets: {} },
      routing: { attempts: 4, ...routing },
      storage: "sqlite:data/tollgate.db",
      ...stored,
      upstream: {
        retries: 2,
        client: "sockets",
        retry_after_max: 10_000,
        connect_timeout: 10_000,
        first_byte_timeout: 600_000,
        idle_timeout: 300_000,
        total_timeout: 1_800_000,
      },
      log: { level: "info", format: "json" },
      providers: { p: { kind: "openai", base_url: "http://u.test", api_key: "k", aliases: [], shared_stores: false } },
      files: {
        upload_limit: 536_870_912,
        upload_timeout: 1_800_000,
        per_user_max: 1_000,
        bytes_per_user_max: 5_368_709_120,
      },
      batches: { ...keptFiles, lines_max: 50_000, lines: 16, native: "auto" },
      responses: { websocket: true, sockets_per_token: 64, messages_per_second: 500, socket_max: 3_600_000 },
      realtime: {
        sessions_per_token: 64,
        session_max: 3_600_000,
        idle_timeout: 600_000,
        stalled_timeout: 30_000,
        messages_per_second: 500,
        connect_timeout: 15_000,
      },
      web: {
        engine: "native",
        search: { backend: "local", without_users: [] },
        user_agent: "Mozilla/5.0 (compatible; Tollgate/0.1)",
        browser: { enabled: true, sandbox: true, pages: 4, idle_timeout: 60_000 },
        page_limit: 16_777_216,
        crawl,
        cache_max_age: 172_800_000,
        screenshots: "address",
        allow_private_hosts: [],
        allow_ports: [80, 443, 8080, 8443],
      },
      webhooks: { encryption_key: "" },
      pricing: {
        catalog_refresh: 86_400_000,
        markup: 1,
        markups: {},
        models: {},
        unpriced: "refuse",
        web: { pages_kcount: 1, pdf_pages_kcount: 1, maps_kcount: 1, searches_kcount: 2 },
      },
    });
  });
});

describe("every key", () => {
  const everything = `
server: { host: "::", port: 0, body_limit: 1MiB, body_timeout: 30s, public_url: "https://ai.test/", beta_url: "http://beta.test" }
storage: "sqlite:/tmp/x.db?synchronous=full"
upstream: { retries: 0, retry_after_max: 1ms, connect_timeout: 3s, first_byte_timeout: 1m, idle_timeout: 2s, total_timeout: 5m }
log: { level: silent }
providers:
  my.own_Vllm-1: { kind: openai-compatible, base_url: "http://gpu:8000/v1///", api_key: a, api_keys: [b, "", c], aliases: [vllm, v2], preset: vllm }
files: { upload_limit: 1GiB, upload_timeout: 1h, per_user_max: 5, bytes_per_user_max: 2GiB }
batches: { bytes_per_user: 1GiB, lines_max: 10, file_max: 200MiB, keep: 29d, lines: 3, native: { openai: off } }
web:
  engine: { kind: native, base_url: "https://fc.test", api_key: f }
  search: { backend: local, base_url: "http://s.test", api_key: s }
  model: my.own_Vllm-1/m
  user_agent: Bot/1
  browser: { enabled: false, executable: /opt/chrome, sandbox: false, pages: 2, idle_timeout: 5s }
  page_limit: 1MiB
  cache_max_age: 0
  screenshots: data
  allow_private_hosts: ["10.0.0.*:8080"]
  allow_ports: [443]
webhooks: { encryption_key: 0123456789abcdef0123456789abcdef }
models: { aliases: { "gpt-*": "my.own_Vllm-1/gpt-*" } }
mcp: { models: { chat: my.own_Vllm-1/m } }
routing: { attempts: 3, deadline: 1m }
pricing:
  web: { pages_kcount: 5, pdf_pages_kcount: 6, maps_kcount: 7, searches_kcount: 8 }
  catalog: prices.json
  catalog_refresh: 6h
  markup: 1.25
  markups: { "openai/*": 1.5 }
  unpriced: free
  models:
    "my.own_Vllm-1/*": { input_mtok: 1, output_mtok: 2, cache_read_mtok: 3, cache_write_mtok: 4, cache_write_1h_mtok: 5, input_audio_mtok: 6,
      cache_audio_read_mtok: 7, output_audio_mtok: 8, output_reasoning_mtok: 9, requests_kcount: 10, context_window: 11, max_output_tokens: 12 }
`;

  test("is read", () => {
    const { config, file } = load(everything);
    expect(file).toBe(join(folder, "tollgate.yaml"));
    expect(config).toEqual({
      server: {
        host: "::",
        port: 0,
        body_limit: 1_048_576,
        body_timeout: 30_000,
        drain: 60_000,
        public_url: "https://ai.test",
        beta_url: "http://beta.test",
      },
      storage: "sqlite:/tmp/x.db?synchronous=full",
      ...stored,
      upstream: {
        retries: 0,
        client: "sockets",
        retry_after_max: 1,
        connect_timeout: 3_000,
        first_byte_timeout: 60_000,
        idle_timeout: 2_000,
        total_timeout: 300_000,
      },
      auth: { issuers: [], sign_in: {}, sessions: { idle: 7_200_000, max: 43_200_000 } },
      models: { aliases: { "gpt-*": "my.own_Vllm-1/gpt-*" } },
      mcp: { models: { chat: "my.own_Vllm-1/m" }, calls: 512, allow_server_urls: [], servers: {}, sets: {} },
      routing: { attempts: 3, deadline: 60_000, ...routing },
      log: { level: "silent", format: "json" },
      providers: {
        "my.own_Vllm-1": {
          kind: "openai-compatible",
          base_url: "http://gpu:8000/v1",
          api_key: "a",
          api_keys: ["b", "", "c"],
          aliases: ["vllm", "v2"],
          preset: "vllm",
          shared_stores: false,
        },
      },
      files: {
        upload_limit: 1_073_741_824,
        upload_timeout: 3_600_000,
        per_user_max: 5,
        bytes_per_user_max: 2_147_483_648,
      },
      batches: { ...keptFiles, lines_max: 10, lines: 3, native: { openai: "off" } },
      responses: { websocket: true, sockets_per_token: 64, messages_per_second: 500, socket_max: 3_600_000 },
      realtime: {
        sessions_per_token: 64,
        session_max: 3_600_000,
        idle_timeout: 600_000,
        stalled_timeout: 30_000,
        messages_per_second: 500,
        connect_timeout: 15_000,
      },
      web: {
        engine: { kind: "native", base_url: "https://fc.test", api_key: "f" },
        search: { backend: "local", base_url: "http://s.test", api_key: "s", without_users: [] },
        model: "my.own_Vllm-1/m",
        user_agent: "Bot/1",
        browser: { enabled: false, executable: "/opt/chrome", sandbox: false, pages: 2, idle_timeout: 5_000 },
        page_limit: 1_048_576,
        crawl,
        cache_max_age: 0,
        screenshots: "data",
        allow_private_hosts: ["10.0.0.*:8080"],
        allow_ports: [443],
      },
      webhooks: { encryption_key: "0123456789abcdef0123456789abcdef" },
      pricing: {
        catalog: "prices.json",
        catalog_refresh: 21_600_000,
        markup: 1.25,
        markups: { "openai/*": 1.5 },
        unpriced: "free",
        web: { pages_kcount: 5, pdf_pages_kcount: 6, maps_kcount: 7, searches_kcount: 8 },
        models: {
          "my.own_Vllm-1/*": {
            input_mtok: 1,
            output_mtok: 2,
            cache_read_mtok: 3,
            cache_write_mtok: 4,
            cache_write_1h_mtok: 5,
            input_audio_mtok: 6,
            cache_audio_read_mtok: 7,
            output_audio_mtok: 8,
            output_reasoning_mtok: 9,
            requests_kcount: 10,
            context_window: 11,
            max_output_tokens: 12,
          },
        },
      },
    });
  });

  test("is frozen after loading", () => {
    const { config } = load(everything);
    expect(() => Object.assign(config.server, { port: 1 })).toThrow(TypeError);
    expect(() => Object.assign(config.pricing.models["my.own_Vllm-1/*"] ?? {}, { input_mtok: 0 })).toThrow(TypeError);
  });

  test("may come from a YAML anchor", () => {
    const { config } = load(`${minimal}pricing: { models: { "p/a": &price { input_mtok: 1 }, "p/b": *price } }`);
    expect(config.pricing.models["p/b"]).toEqual({ input_mtok: 1 });
  });
});

/** Four levels of ten aliases each: ten thousand nodes from four short lines. */
const bomb = ["a", "b", "c", "d"]
  .map(
    (name, level, names) =>
      `${name}: &${name} [${Array<string>(10)
        .fill(level === 0 ? "x" : `*${names[level - 1]}`)
        .join(",")}]`,
  )
  .join("\n");

describe("an error stops the startup with one line that names the key", () => {
  const provider = (entry: string): string => `providers: { p: { kind: openai, base_url: http://u.test, ${entry} } }`;

  test.each<[string, string]>([
    // Unknown keys.
    [`${minimal}serverr: {}`, "config: serverr: unknown key"],
    [`${minimal}server: { prot: 1 }`, "config: server.prot: unknown key"],
    [provider("apikey: k"), "config: providers.p.apikey: unknown key"],
    [`${minimal}pricing: { models: { "p/x": { input: 1 } } }`, "config: pricing.models.p/x.input: unknown key"],
    [`${minimal}web: { search: { backend: local, key: 1 } }`, "config: web.search.key: unknown key"],
    [`${minimal}log: { level: loud }\nwebb: {}`, "config: webb: unknown key"],
    ["providers: { p: { type: openai, base_url: http://u.test } }", "config: providers.p.type: unknown key"],
    [`${minimal}web: { engine: { kind: native, key: 1 } }`, "config: web.engine.key: unknown key"],
    [`${minimal}web: { engine: { knd: native } }`, "config: web.engine.knd: unknown key"],
    // Values that are not available yet.
    [`${minimal}web: { engine: firecrawl }`, "config: web.engine: firecrawl needs an api_key"],
    [`${minimal}web: { engine: { kind: firecrawl } }`, "config: web.engine: firecrawl needs an api_key"],
    [`${minimal}web: { search: { backend: brave } }`, "config: web.search.api_key: brave needs an api_key"],
    // Sizes, durations, numbers.
    [`${minimal}server: { body_limit: 32MB }`, "config: server.body_limit: a size such as 32MiB"],
    [`${minimal}server: { body_limit: 0 }`, "config: server.body_limit: a size such as 32MiB"],
    [`${minimal}server: { body_timeout: 0s }`, "config: server.body_timeout: a duration such as 30s"],
    [`${minimal}upstream: { idle_timeout: forever }`, "config: upstream.idle_timeout: a duration such as 30s"],
    [`${minimal}server: { port: 65536 }`, "config: server.port: "],
    [`${minimal}server: { port: "http" }`, "config: server.port: "],
    [`${minimal}server: { host: "" }`, "config: server.host: "],
    [`${minimal}upstream: { retries: 11 }`, "config: upstream.retries: "],
    [`${minimal}pricing: { markup: 0 }`, "config: pricing.markup: "],
    [`${minimal}pricing: { catalog: "" }`, "config: pricing.catalog: "],
    [`${minimal}pricing: { catalog: "http://prices.example/c.json" }`, "config: pricing.catalog: a file, or an https"],
    [`${minimal}pricing: { catalog: "https://me:pw@prices.example/c.json" }`, "config: pricing.catalog: a file, or an"],
    [`${minimal}pricing: { catalog: "ftp://prices.example/c.json" }`, "config: pricing.catalog: a file, or an https"],
    [`${minimal}pricing: { catalog: c.json, catalog_refresh: soon }`, "config: pricing.catalog_refresh: "],
    [`${minimal}pricing: { markup: 0.0000001 }`, "config: pricing.markup: "],
    [`${minimal}pricing: { markup: .inf }`, "config: pricing.markup: "],
    [`${minimal}pricing: { markups: { "openai/*": 0 } }`, "config: pricing.markups.openai/*: "],
    [`${minimal}pricing: { markups: 1.2 }`, "config: pricing.markups: "],
    [`${minimal}pricing: { models: { "p/x": { input_mtok: -1 } } }`, "config: pricing.models.p/x.input_mtok: "],
    [`${minimal}pricing: { models: { "p/x": { input_mtok: "1,5" } } }`, "config: pricing.models.p/x.input_mtok: "],
    [`${minimal}pricing: { models: { "p/x": { input_mtok: 1e21 } } }`, "config: pricing.models.p/x.input_mtok: "],
    [`${minimal}pricing: { models: { "p/x": { images: 1 } } }`, "config: pricing.models.p/x.images: unknown key"],
    [
      `${minimal}pricing: { models: { "p/x": { image: {} } } }`,
      "config: pricing.models.p/x.image: it contains no price",
    ],
    [
      `${minimal}pricing: { models: { "p/x": { image: { hd: dear } } } }`,
      "config: pricing.models.p/x.image: expected a price, or prices by size and quality",
    ],
    [
      `${minimal}pricing: { models: { "p/x": { input_image: { hd: 1 } } } }`,
      "config: pricing.models.p/x.input_image: ",
    ],
    [`${minimal}pricing: { unpriced: maybe }`, "config: pricing.unpriced: "],
    [`${minimal}log: { level: loud }`, "config: log.level: "],
    [`${minimal}storage: ""`, "config: storage: "],
    [`${minimal}storage: 5`, "config: storage: "],
    // Providers.
    ["providers: []", "config: providers: "],
    ["providers: { p: null }", "config: providers.p: "],
    ["providers: { p: { base_url: http://u.test } }", "config: providers.p.kind: "],
    ["providers: { p: { kind: openai } }", "config: providers.p.base_url: an http(s) URL"],
    ["providers: { p: { kind: gemini, base_url: http://u.test } }", "config: providers.p.kind: "],
    ["providers: { p: { kind: openai, base_url: ftp://u.test } }", "config: providers.p.base_url: an http(s) URL"],
    ["providers: { p: { kind: openai, base_url: u.test } }", "config: providers.p.base_url: an http(s) URL"],
    [
      "providers: { p: { kind: openai, base_url: http://u.test/v1?k=v } }",
      "config: providers.p.base_url: an http(s) URL w",
    ],
    [
      "providers: { p: { kind: openai, base_url: 'http://u.test/#v1' } }",
      "config: providers.p.base_url: an http(s) URL w",
    ],
    [
      "providers: { p: { kind: openai, base_url: http://me@u.test } }",
      "config: providers.p.base_url: an http(s) URL w",
    ],
    [provider("preset: groq"), "config: providers.p.preset: only an openai-compatible provider"],
    [provider("dialects: []"), "config: providers.p.dialects: "],
    [provider("dialects: [chat, chat]"), "config: providers.p.dialects: each dialect once"],
    [provider("dialects: [chat, embeddings]"), "config: providers.p.dialects.1: "],
    [provider("api_key: 12345"), "config: providers.p.api_key: "],
    [provider("api_keys: k"), "config: providers.p.api_keys: "],
    [provider("preset: claude"), "config: providers.p.preset: "],
    [provider("aliases: [a/b]"), "config: providers.p.aliases.0: a prefix of letters"],
    ["providers: { 'a/b': { kind: openai, base_url: http://u.test } }", "config: providers.a/b: "],
    ["providers: { '': { kind: openai, base_url: http://u.test } }", "config: providers.: "],
    [provider("aliases: [p]"), "config: providers.p.aliases: p is already a prefix of p"],
    [
      "providers: { a: { kind: openai, base_url: http://u.test, aliases: [c] }, b: { kind: openai, base_url: http://u.test, aliases: [c] } }",
      "config: providers.b.aliases: c is already a prefix of a",
    ],
    // Variables.
    [`${minimal}storage: "\${NOT_SET}"`, "config: storage: the variable NOT_SET is not set"],
    // YAML.
    ["providers: {", "tollgate.yaml: "],
    [`${minimal}${minimal}`, "tollgate.yaml: Map keys must be unique"],
    ["providers: &a { b: *a }", "config: providers.b: an alias that contains itself"],
    ["pricing: &a { models: [{ x: *a }] }", "config: pricing.models.0.x: an alias that contains itself"],
    ["storage: *nowhere", "tollgate.yaml: Unresolved alias"],
    [bomb, "tollgate.yaml: Excessive alias count"],
    ["[1, 2]", "config: "],
    ["just text", "config: "],
  ])("%j: %s", (text, message) => {
    let thrown: unknown;
    try {
      load(text);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ConfigError);
    const line = (thrown as Error).message;
    expect(line).toContain(message);
    expect(line).not.toContain("\n");
  });

  test("never contains the value of an upstream key", () => {
    for (const entry of [
      'api_key: ["sk-secret"]',
      "api_keys: sk-secret",
      'api_key: "sk-secret", preset: sk-secret-2',
      'aliases: [], preset: groq, api_key: "sk-secret"',
    ]) {
      expect(() => load(provider(entry))).toThrow(ConfigError);
      expect(() => load(provider(entry))).not.toThrow("sk-secret");
    }
  });
});

test("a password in an address is not repeated in the error", () => {
  const text = "providers: { p: { kind: openai, base_url: 'https://me:sk-secret@u.test/v1' } }";
  expect(() => load(text)).toThrow("config: providers.p.base_url: an http(s) URL without user, password");
  expect(() => load(text)).not.toThrow("sk-secret");
});

describe("a variable", () => {
  const numbers = `
server: { port: "\${PORT:-8797}", body_limit: "\${LIMIT}", body_timeout: "\${SECONDS}s" }
upstream: { retries: "\${RETRIES}", idle_timeout: "\${SECONDS}000" }
providers: { p: { kind: openai, base_url: http://u.test, api_key: "\${KEY}", api_keys: ["\${KEY}", "007"] } }
pricing:
  markup: "\${MARKUP}"
  markups: { "x/*": "\${MARKUP}" }
  models: { "p/*": { input_mtok: "\${PRICE:-0.25}", context_window: "\${LIMIT}" } }
`;
  const variables = { LIMIT: "4096", SECONDS: "30", RETRIES: "0", MARKUP: "1.2", KEY: "12345" };

  test("may contain a number", () => {
    const { server, upstream, pricing } = load(numbers, variables).config;
    expect(server).toMatchObject({ port: 8797, body_limit: 4096, body_timeout: 30_000 });
    expect(upstream).toMatchObject({ retries: 0, idle_timeout: 30_000, total_timeout: 1_800_000 });
    expect(pricing).toMatchObject({
      markup: 1.2,
      markups: { "x/*": 1.2 },
      models: { "p/*": { input_mtok: 0.25, context_window: 4096 } },
    });
  });

  test("that looks like a number stays a text in an upstream key", () => {
    expect(load(numbers, variables).config.providers["p"]).toMatchObject({
      api_key: "12345",
      api_keys: ["12345", "007"],
    });
  });

  test.each(["65536", "80.5", "-1", "0x50", "1e3", "http"])("is refused if it is no port: %s", (port) => {
    expect(() => load(numbers, { ...variables, PORT: port })).toThrow("config: server.port: ");
  });
});

describe("a provider without a key", () => {
  test.each<[string, string | undefined]>([
    ["api_key: ''", "providers.p.api_key"],
    ["api_key: '${UNSET}'", "UNSET"],
    ["api_keys: ['${UNSET}', '${TOO}']", "UNSET"],
    ["api_keys: ['${UNSET}', k]", undefined],
    ["aliases: []", "providers.p.api_key"],
  ])("if there is none, the report names the variable or key to set (%s)", (entry, toSet) => {
    const { missingKeys } = load(`providers: { p: { kind: openai, base_url: http://u.test, ${entry} } }`);
    expect(missingKeys.get("p")).toBe(toSet as never);
  });
});
