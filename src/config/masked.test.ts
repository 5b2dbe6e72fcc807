/** No secret of a configuration is shown, and no setting is added without a decision whether it is one. */
import { expect, test } from "bun:test";
import { objectOf, objectsOf, stringOf } from "../core/index.ts";
import { configJsonSchema } from "./json-schema.ts";
import { loadConfig } from "./load.ts";
import { isAt, MASK, maskedConfig, shownAddresses, shownOrigins, shownTexts } from "./masked.ts";

/** Texts that are nobody's to see. A setting that is not in either list of `masked.ts` belongs here. */
const secrets = [
  "otlp.headers.*",
  "otlp.traces.headers.*",
  "otlp.metrics.headers.*",
  "alerts.channels.*.url",
  "alerts.channels.*.secret",
  "providers.*.api_key",
  "providers.*.api_keys.*",
  "providers.*.keys.*.secret",
  "web.engine.api_key",
  "web.search.api_key",
  "auth.sign_in.*.client_secret",
  "webhooks.encryption_key",
  "mcp.servers.*.auth.bearer",
  "mcp.servers.*.auth.oauth.client_secret",
  "mcp.servers.*.auth.exchange.client_secret",
  "mcp.servers.*.auth.headers.*",
  "mcp.servers.*.args.*",
  "mcp.servers.*.env.*",
];

/** The paths of the schema that have a text: not those of numbers, which may be written as one. */
function textsIn(schema: object): Map<string, boolean> {
  const found = new Map<string, boolean>();
  const walk = (node: unknown, path: string, above: readonly unknown[]): void => {
    const shape = objectOf(node);
    if (shape === undefined || above.includes(node)) return;
    const inside = [...above, node];
    for (const key of ["anyOf", "oneOf", "allOf"]) {
      const choices = objectsOf(shape[key]);
      const isNumber = choices.some(({ type }) => type === "integer" || type === "number");
      for (const each of choices) if (!isNumber || each["type"] !== "string") walk(each, path, inside);
    }
    const isChoice = shape["enum"] !== undefined || shape["const"] !== undefined;
    if (shape["type"] === "string" && !stringOf(shape["pattern"]).includes("\\$\\{")) found.set(path, isChoice);
    const under = (key: string): string => (path === "" ? key : `${path}.${key}`);
    for (const [key, each] of Object.entries(objectOf(shape["properties"]) ?? {})) walk(each, under(key), inside);
    walk(shape["additionalProperties"], under("*"), inside);
    walk(shape["items"], under("*"), inside);
  };
  walk(schema, "", []);
  return found;
}

test("every text is shown, an address or a secret, and no choice of words is masked", () => {
  const texts = [...textsIn(configJsonSchema())];
  expect(texts.length).toBeGreaterThan(60);
  const isIn = (patterns: readonly string[], path: string): boolean => patterns.some((pattern) => isAt(path, pattern));
  const lists = [shownTexts, shownAddresses, shownOrigins];
  const undecided = texts.filter(([path]) => ![...lists, secrets].some((each) => isIn(each, path)));
  expect(undecided.map(([path]) => path)).toEqual([]);
  expect(texts.filter(([path]) => isIn(secrets, path) && isIn(lists.flat(), path))).toEqual([]);
  expect(texts.filter(([path, isChoice]) => isChoice && !isIn(shownTexts, path))).toEqual([]);
});

test("none of any kind is in the answer", () => {
  const secret = (number: number): string => `canary-${number}-0123456789abcdefghijklmnopqrstuvwxyz`;
  const hook = `whsec_${Buffer.from(secret(90)).toString("base64")}`;
  const text = JSON.stringify({
    storage: `postgres://user:${secret(1)}@db.example:5432/tollgate?password=${secret(2)}`,
    providers: {
      openai: { kind: "openai", base_url: "https://api.openai.com/v1", api_key: secret(3) },
      xai: { kind: "xai", base_url: "https://api.x.ai/v1", api_keys: [secret(4), secret(5)] },
      own: {
        kind: "anthropic",
        base_url: "https://api.anthropic.com",
        keys: [{ name: "first", secret: secret(6), models: ["claude-*"] }],
      },
    },
    alerts: {
      channels: {
        hook: { kind: "webhook", url: `https://hooks.example/${secret(7)}`, secret: hook },
        chat: { kind: "slack", url: `https://hooks.slack.example/${secret(8)}` },
        mail: { kind: "email", url: `smtps://user:${secret(9)}@mail.example:465`, to: ["ops@example.com"] },
      },
    },
    otlp: {
      endpoint: `https://otlp.example/${secret(19)}`,
      headers: { authorization: secret(10) },
      traces: { headers: { "x-key": secret(11) } },
    },
    web: {
      engine: { kind: "firecrawl", base_url: "https://api.firecrawl.dev", api_key: secret(12) },
    },
    webhooks: { encryption_key: secret(13) },
    mcp: {
      servers: {
        one: { url: `https://mcp.example/${secret(20)}/mcp`, auth: { bearer: secret(14) } },
        two: { url: "https://mcp2.example", auth: { headers: { "x-api-key": secret(15), "tools.x": secret(16) } } },
        three: { command: "npx", args: [secret(22)], env: { KEY: secret(23) } },
      },
    },
    pricing: { catalog: `https://prices.example/${secret(21)}/catalog.json?token=${secret(18)}` },
    auth: {
      sign_in: { firm: { issuer: "https://id.example", client_id: "c", client_secret: secret(91) } },
      issuers: [{ name: "corp", issuer: "https://id.example", audience: "tollgate" }],
    },
  });
  const { config } = loadConfig({ file: "tollgate.yaml", text, variables: {} });
  const shown = JSON.stringify(maskedConfig(config));
  expect(shown).not.toContain("canary");
  expect(shown).not.toContain(hook.slice("whsec_".length));
  expect(JSON.parse(shown)).toMatchObject({
    storage: "postgres://db.example:5432/tollgate",
    providers: {
      openai: { kind: "openai", base_url: "https://api.openai.com/v1", api_key: MASK },
      own: { keys: [{ name: "first", secret: MASK, models: ["claude-*"], weight: 1 }] },
    },
    alerts: { channels: { mail: { kind: "email", url: MASK, to: ["ops@example.com"] } } },
    mcp: { servers: { one: { url: "https://mcp.example" }, two: { auth: { headers: { "x-api-key": MASK } } } } },
    otlp: { endpoint: "https://otlp.example" },
    pricing: { catalog: "https://prices.example" },
    auth: { issuers: [{ name: "corp", issuer: "https://id.example" }] },
  });
});
