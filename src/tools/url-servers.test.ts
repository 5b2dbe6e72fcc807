import { expect, test } from "bun:test";
import { webPrice } from "../pricing/index.ts";
import { Ticker } from "../streaming/index.ts";
import { createLogger } from "../telemetry/index.ts";
import { UrlServers } from "./url-servers.ts";

const servers = new UrlServers({
  allowed: ["https://mcp.example.com", "https://*.acme.com/tools/", "http://intranet:9000/mcp", "https://one.org/mcp"],
  outbound: { fetch: () => Promise.reject(new Error("nothing is asked here")) },
  price: webPrice({ tool_calls_kcount: 0 }, 1_000_000n),
  version: "1",
  ticker: new Ticker(1_000, () => 0),
  clock: () => 0,
  logger: createLogger({ level: "silent" }),
  wait: () => Promise.resolve(),
});

test.each([
  "https://mcp.example.com/",
  "https://MCP.example.com:443/any/path?key=1",
  "https://a.acme.com/tools",
  "https://a.b.acme.com/tools/x",
  "http://intranet:9000/mcp",
  "http://intranet:9000/mcp/",
  "https://one.org/mcp/x",
  "https://one.org/mcp/x;y=1/..z",
])("%s is permitted", (url) => {
  expect(servers.permits(url)).toBe(true);
});

test.each([
  "http://mcp.example.com/",
  "https://mcp.example.com:8443/",
  "https://mcp.example.com.evil.org/",
  "https://user@mcp.example.com/",
  "https://user:secret@mcp.example.com/",
  "https://evil.org/https://mcp.example.com/",
  "https://evil.org#@mcp.example.com/",
  "https://acme.com/tools/",
  "https://evilacme.com/tools/",
  "https://a.acme.com/",
  "https://a.acme.com/toolsx",
  "https://a.acme.com/tools/../admin",
  "https://a.acme.com/tools/%2e%2e/admin",
  "https://a.acme.com/tools/..%2Fadmin",
  "https://a.acme.com/tools/..%5cadmin",
  "https://a.acme.com/tools/..;/admin",
  "https://a.acme.com/tools/.;a=1/..;b/admin",
  "https://a.acme.com/tools/%2E%2e;x/admin",
  "https://a.acme.com/tools/..%3B/admin",
  "http://intranet/mcp",
  "http://intranet:9000/mcpx",
  "https://127.0.0.1/",
  "ftp://mcp.example.com/",
  "mcp.example.com",
  "",
])("%j is not", (url) => {
  expect(servers.permits(url)).toBe(false);
  expect(servers.server({ url, headers: {}, user: "u" })).toBeUndefined();
});

test("callers have a server of their own, by their headers; records have the permitted host", () => {
  const of = (user: string, headers: Record<string, string>) =>
    servers.server({ url: "https://a.acme.com/tools", headers, user });
  const one = of("u", { authorization: "Bearer a" });
  expect(of("u", { authorization: "Bearer a" })).toBe(one as NonNullable<typeof one>);
  for (const other of [of("u", { authorization: "Bearer b" }), of("v", { authorization: "Bearer a" }), of("u", {})])
    expect(other).not.toBe(one as NonNullable<typeof one>);
  expect(one?.name).toBe("*.acme.com");
});
