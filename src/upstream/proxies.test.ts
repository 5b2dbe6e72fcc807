import { expect, test } from "bun:test";
import { proxyRule, type ProxyVariables } from "./proxies.ts";

const isProxied = (variables: ProxyVariables, url: string): boolean => proxyRule(variables)(new URL(url));

test("a proxy applies to the scheme of its variable, in either case; an empty one is none", () => {
  for (const [variables, plain, secure] of [
    [{}, false, false],
    [{ HTTP_PROXY: "http://proxy:1" }, true, false],
    [{ https_proxy: "http://proxy:1" }, false, true],
    [{ http_proxy: "", HTTP_PROXY: "http://proxy:1" }, true, false],
    [{ HTTPS_PROXY: "" }, false, false],
  ] satisfies [ProxyVariables, boolean, boolean][]) {
    expect([isProxied(variables, "http://host.test/"), isProxied(variables, "https://host.test/")]).toEqual([
      plain,
      secure,
    ]);
  }
});

test("NO_PROXY contains hosts, their subdomains, ports, and all", () => {
  const cases: [entries: string, url: string, isDirect: boolean][] = [
    ["host.test", "https://host.test/", true],
    ["host.test", "https://api.host.test/", true],
    [".host.test", "https://api.host.test/", true],
    ["*.host.test", "https://api.host.test/", true],
    ["HOST.test", "https://host.TEST/", true],
    ["host.test", "https://myhost.test/", false],
    ["a.test, host.test", "https://host.test/", true],
    ["host.test:443", "https://host.test/", true],
    ["host.test:8443", "https://host.test/", false],
    ["host.test:8443", "https://host.test:8443/", true],
    ["127.0.0.1", "https://127.0.0.1:1/", true],
    ["::1", "https://[::1]:1/", true],
    ["[::1]:1", "https://[::1]:1/", true],
    ["*", "https://anything.test/", true],
    ["", "https://host.test/", false],
  ];
  for (const [entries, url, isDirect] of cases) {
    const variables = { HTTPS_PROXY: "http://proxy:1", NO_PROXY: entries };
    expect([entries, url, isProxied(variables, url)]).toEqual([entries, url, !isDirect]);
  }
});
