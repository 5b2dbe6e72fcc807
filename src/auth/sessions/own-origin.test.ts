import { expect, test } from "bun:test";
import { GatewayError } from "../../core/index.ts";
import { requireOwnOrigin } from "./own-origin.ts";

const PUBLIC = "https://ai.example.com/gateway";

function outcome(url: string, headers: Record<string, string>): string {
  try {
    return requireOwnOrigin(new Request(url, { method: "POST", headers }), PUBLIC);
  } catch (thrown) {
    return thrown instanceof GatewayError ? thrown.code : String(thrown);
  }
}

const inside = "http://10.0.0.1:8787/v1/x";

test.each<[string, string, Record<string, string>]>([
  ["the public address", inside, { origin: "https://ai.example.com" }],
  ["and the browser says so", inside, { origin: "https://ai.example.com", "sec-fetch-site": "same-origin" }],
  ["the asked host", "http://127.0.0.1:8787/v1/x", { origin: "http://127.0.0.1:8787" }],
  ["the asked host behind a proxy that ends TLS", "http://gw.test/v1/x", { origin: "https://gw.test" }],
])("a page of %s may", (_what, url, headers) => expect(outcome(url, headers)).toBe(headers["origin"] ?? ""));

test.each<[string, string, Record<string, string>]>([
  ["nobody knows which page", inside, {}],
  ["nobody knows which page, but the browser says it is ours", inside, { "sec-fetch-site": "same-origin" }],
  ["an opaque origin", inside, { origin: "null" }],
  ["no origin", inside, { origin: "" }],
  ["another origin", inside, { origin: "https://evil.example" }],
  ["a sub-domain", inside, { origin: "https://x.ai.example.com" }],
  ["the domain above", inside, { origin: "https://example.com" }],
  ["a name that begins the same", inside, { origin: "https://ai.example.com.evil.example" }],
  ["another port", inside, { origin: "https://ai.example.com:8443" }],
  ["plain HTTP at the public address", inside, { origin: "http://ai.example.com" }],
  ["plain HTTP at a host of HTTPS", "https://gw.test/v1/x", { origin: "http://gw.test" }],
  ["another port of this machine", "http://127.0.0.1:8787/v1/x", { origin: "http://127.0.0.1:3000" }],
  ["a user in the address", inside, { origin: "https://a@ai.example.com" }],
  ["a path behind the origin", "http://gw.test/v1/x", { origin: "http://gw.test/" }],
  ["an extension", "http://gw.test/v1/x", { origin: "chrome-extension://gw.test" }],
  ["two origins", inside, { origin: "https://ai.example.com, https://evil.example" }],
  ["our origin, but a site beside", inside, { origin: "https://ai.example.com", "sec-fetch-site": "same-site" }],
  ["our origin, but another site", inside, { origin: "https://ai.example.com", "sec-fetch-site": "cross-site" }],
  ["our origin, but an address that was typed", inside, { origin: "https://ai.example.com", "sec-fetch-site": "none" }],
])("a page of %s may not", (_what, url, headers) => expect(outcome(url, headers)).toBe("cross_site"));
