import { expect, test } from "bun:test";
import { checkConfig } from "./load.ts";

const read = (address: string): string[] =>
  checkConfig({ providers: {}, mcp: { allow_server_urls: [address] } }).mcp.allow_server_urls;

test.each([
  "https://mcp.example.com",
  "https://*.acme.com/tools/",
  "http://localhost:9000/mcp",
  "https://[2001:db8::1]/",
])("%s may be an address of servers", (address) => {
  expect(read(address)).toEqual([address]);
});

test.each([
  "*",
  "https://*",
  "https://*.com",
  "https://a*.com/",
  "https://x.com/*",
  "https://u:p@x.com",
  "https://x.com/?key=1",
  "https://x.com/#a",
  "ftp://x.com",
  "x.com",
])("%s may not", (address) => {
  expect(() => read(address)).toThrow("mcp.allow_server_urls.0");
});
