import { describe, expect, test } from "bun:test";
import { originRefusal } from "./admitted-origin.ts";

const local = { isLocal: true, publicUrl: new URL("http://127.0.0.1:8787"), origins: [] };
const cluster = { isLocal: false, publicUrl: new URL("https://ai.example.com"), origins: ["https://*.example.org"] };

describe("who is let in", () => {
  test.each<[string, Record<string, string>, typeof local | typeof cluster, boolean]>([
    ["a program", { host: "127.0.0.1:8787" }, local, true],
    ["by another name of this machine", { host: "localhost:8787" }, local, true],
    ["over IPv6", { host: "[::1]:8787" }, local, true],
    ["by a name that leads here", { host: "evil.example:8787" }, local, false],
    ["by a name that begins like this machine's", { host: "localhost.evil.example" }, local, false],
    ["by a name that begins like an address", { host: "127.0.0.1.evil.example" }, local, false],
    ["without a name", {}, local, false],
    [
      "by the public name",
      { host: "ai.example.com" },
      { ...local, publicUrl: new URL("https://ai.example.com") },
      true,
    ],
    ["by any name in a cluster", { host: "gateway.svc:80" }, cluster, true],
    ["a page of this machine", { host: "localhost:8787", origin: "http://localhost:6274" }, local, true],
    ["a page from elsewhere", { host: "127.0.0.1:8787", origin: "https://evil.example" }, local, false],
    ["a page that looks local", { host: "127.0.0.1:8787", origin: "http://localhost.evil.example" }, local, false],
    ["a page with a local user", { host: "127.0.0.1:8787", origin: "http://localhost@evil.example" }, local, false],
    ["a page without an origin", { host: "127.0.0.1:8787", origin: "null" }, local, false],
    ["an extension", { host: "127.0.0.1:8787", origin: "chrome-extension://localhost" }, local, false],
    ["our own page", { host: "x", origin: "https://ai.example.com" }, cluster, true],
    ["a page that the operator lets in", { host: "x", origin: "https://a.example.org" }, cluster, true],
    ["a page that nobody lets in", { host: "x", origin: "https://evil.example" }, cluster, false],
  ])("%s", (_what, headers, policy, isIn) => {
    expect(originRefusal(new Headers(headers), policy) === undefined).toBe(isIn);
  });
});
