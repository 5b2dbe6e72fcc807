import { describe, expect, test } from "bun:test";
import { createProvider } from "../providers/index.ts";
import { type Key, KeyPool, type UpstreamRoute } from "../routing/index.ts";
import { relayedErrorHeaders, relayedHeaders, upstreamHeaders } from "./headers.ts";

function routeOf(kind: "openai" | "anthropic" | "google", sandbox = false): UpstreamRoute {
  const baseUrl = "https://upstream.example/v1";
  return {
    prefix: kind,
    aliases: [],
    provider: createProvider({ kind, baseUrl }),
    baseUrl,
    keys: new KeyPool(["sk-upstream"], () => 0),
    sandbox,
    sharedStores: false,
    listing: { listed: [] },
    requiredVariable: undefined,
  };
}

/** Headers of an SDK, a browser and a proxy. */
const client = new Headers({
  authorization: "Bearer tg_token_of_the_caller",
  "x-api-key": "tg_token_of_the_caller",
  cookie: "session=1",
  host: "gateway.example",
  "accept-encoding": "gzip, br",
  "content-length": "17",
  connection: "keep-alive",
  "user-agent": "OpenAI/JS 6.49.0",
  "x-stainless-lang": "js",
  "openai-organization": "org-of-the-caller",
  "openai-beta": "assistants=v2",
  "x-client-request-id": "abc",
  "x-forwarded-for": "10.0.0.1",
  "idempotency-key": "key-of-the-caller",
  "x-sim-fault": "status=500",
});

interface Sending {
  key?: Key;
  clientHeaders?: Headers;
  passesThrough?: boolean;
  accept?: string;
  dialect?: "chat" | "messages";
}

function headersOf(route: UpstreamRoute, sending: Sending = {}): Headers {
  const {
    key = route.keys.acquire(),
    clientHeaders = new Headers(),
    passesThrough = true,
    accept = "application/json",
  } = sending;
  const operation = route.provider.operations[sending.dialect ?? "chat"];
  if (operation === undefined || key === undefined) throw new Error("no such operation, or no key");
  return upstreamHeaders({ target: { route, operation }, clientHeaders, passesThrough, accept }, key);
}

const sent = (route: UpstreamRoute) => Object.fromEntries(headersOf(route, { clientHeaders: client }));

describe("to an upstream", () => {
  test("no header with an invalid character is sent", () => {
    const clientHeaders = new Headers({ "x-client-request-id": "a\u007fb", "openai-beta": "assistants=v2" });
    const headers = headersOf(routeOf("openai"), { clientHeaders });
    expect([headers.get("x-client-request-id"), headers.get("openai-beta")]).toEqual([null, "assistants=v2"]);
  });

  test("the gateway's own headers, its key, and permitted headers of the caller are sent", () => {
    const { "user-agent": userAgent, ...headers } = sent(routeOf("openai"));
    expect(userAgent).toMatch(/^tollgate\//);
    expect(headers).toEqual({
      "content-type": "application/json",
      accept: "application/json",
      "accept-encoding": "identity",
      authorization: "Bearer sk-upstream",
      "openai-beta": "assistants=v2",
      "x-client-request-id": "abc",
    });
  });

  test("a stream is requested as a stream", () => {
    const route = routeOf("openai");
    expect(headersOf(route, { accept: "text/event-stream" }).get("accept")).toBe("text/event-stream");
    expect(headersOf(route).get("accept")).toBe("application/json");
  });

  test("headers of one caller are sent with no other call, and each key has its own", () => {
    const route = routeOf("openai");
    expect(sent(route)["openai-beta"]).toBe("assistants=v2");
    const other = headersOf(route, { key: { id: "other", secret: "sk-other", cachedHeaders: [] } });
    expect(other.get("openai-beta")).toBeNull();
    expect(other.get("authorization")).toBe("Bearer sk-other");
    expect(headersOf(route).get("openai-beta")).toBeNull();
  });

  test("the caller's token is never sent, whatever headers the provider accepts its key in", () => {
    for (const kind of ["openai", "anthropic"] as const) {
      const headers = sent(routeOf(kind));
      expect(JSON.stringify(headers)).not.toContain("tg_token");
      expect(headers["authorization"]).toBe("Bearer sk-upstream");
    }
    expect(sent(routeOf("anthropic"))).toMatchObject({
      "x-api-key": "sk-upstream",
      "anthropic-version": "2023-06-01",
    });
  });

  test("a provider that accepts its key in several ways gets it in the way of its path", () => {
    const { provider } = routeOf("google");
    expect(provider.headers("sk-upstream", "/v1beta/openai/chat/completions")).toEqual({
      authorization: "Bearer sk-upstream",
    });
    expect(provider.headers("sk-upstream", "/v1beta/models/")).toEqual({ "x-goog-api-key": "sk-upstream" });
    expect(sent(routeOf("google"))).toMatchObject({ authorization: "Bearer sk-upstream" });
  });

  test("a version and betas are sent if the upstream gets the client's own body, in that dialect", () => {
    const clientHeaders = new Headers({ "anthropic-version": "2026-10-21", "anthropic-beta": "a,b" });
    const of = (sending: Sending) => {
      const headers = headersOf(routeOf("anthropic"), { clientHeaders, ...sending });
      return [headers.get("anthropic-version"), headers.get("anthropic-beta")];
    };
    expect(of({ dialect: "messages" })).toEqual(["2026-10-21", "a,b"]);
    expect(of({ dialect: "messages", passesThrough: false })).toEqual(["2023-06-01", null]);
    expect(of({ dialect: "chat" })).toEqual(["2023-06-01", null]);
  });

  test("a fault is requested of a simulator only", () => {
    expect(sent(routeOf("openai"))["x-sim-fault"]).toBeUndefined();
    expect(sent(routeOf("openai", true))["x-sim-fault"]).toBe("status=500");
  });
});

describe("to a client", () => {
  const upstream = new Headers({
    "content-type": "application/json; charset=utf-8",
    "content-length": "1234",
    "content-encoding": "gzip",
    "transfer-encoding": "chunked",
    "set-cookie": "__cf_bm=1",
    "openai-organization": "our-organisation",
    "x-ratelimit-remaining-requests": "9",
    "anthropic-ratelimit-requests-limit": "50",
    "openai-processing-ms": "12",
    "openai-version": "2020-10-01",
    "retry-after": "3",
    "retry-after-ms": "3000",
    "x-should-retry": "false",
    "x-request-id": "req_upstream",
    server: "cloudflare",
    location: "https://elsewhere.example/",
  });

  const route = { sandbox: false, keys: new KeyPool(["sk-first-0123456789"], () => 0) };

  test("an error's headers do not repeat the key", () => {
    const headers = new Headers({
      "x-should-retry": "no: sk%2Dfirst-0123456789",
      "x-request-id": "sk-first-0123456789",
    });
    expect(relayedErrorHeaders(headers, route)).toEqual({
      "x-should-retry": "no: [redacted]",
      "x-upstream-request-id": "[redacted]",
      "x-tollgate-error-source": "upstream",
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
    });
  });

  test("nor do those of a success", () => {
    const headers = new Headers({
      "content-type": "text/plain; a=sk-first-0123456789",
      "content-disposition": 'attachment; filename="sk%2dfirst%2d0123456789"',
      "request-id": "sk-first-0123456789",
    });
    expect(relayedHeaders(headers, route)).toEqual({
      "content-type": "text/plain; a=[redacted]",
      "content-disposition": 'attachment; filename="[redacted]"',
      "x-upstream-request-id": "[redacted]",
    });
  });

  test("the headers about the answer are sent, and the upstream's request id under another name", () => {
    expect(relayedHeaders(upstream, route)).toEqual({
      "content-type": "application/json; charset=utf-8",
      "openai-processing-ms": "12",
      "openai-version": "2020-10-01",
      "retry-after": "3",
      "retry-after-ms": "3000",
      "x-should-retry": "false",
      "x-upstream-request-id": "req_upstream",
    });
  });

  test("Anthropic's name of the request id is known", () => {
    expect(relayedHeaders(new Headers({ "request-id": "req_a" }), route)).toEqual({ "x-upstream-request-id": "req_a" });
  });

  test("a simulator's answer is marked", () => {
    expect(relayedHeaders(new Headers(), { ...route, sandbox: true })).toEqual({ "x-tollgate-sandbox": "true" });
    expect(relayedHeaders(new Headers(), route)).toEqual({});
  });
});
