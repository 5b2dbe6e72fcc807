import { expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { consolePagesRoute, consoleRoute } from "./console.ts";

const open = async (page: string, headers: Record<string, string> = {}): Promise<Response> => {
  const call = {
    request: new Request("http://gateway.example/", { headers }),
    requestId: "r",
    pathParameter: () => page,
  };
  return (page === "" ? consoleRoute : consolePagesRoute).handle(call, {});
};

/** The names of the assets that the page loads. */
const assets = async (): Promise<string[]> => {
  const text = await (await open("")).text();
  return [...text.matchAll(/(?:src|href)="\/console\/(assets\/[^"]+)"/g)].map(([, name = ""]) => name);
};

test.each(["", "spend", "requests/req_1", "requests/..%2fx"])("%p is the page of the application", async (path) => {
  const answer = await open(path);
  expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(answer.headers.get("cache-control")).toBe("no-cache");
  expect(await answer.text()).toContain('<div id="root">');
});

test("the page permits its own files, and none that is inline or elsewhere", async () => {
  const answer = await open("spend");
  const policy = answer.headers.get("content-security-policy") ?? "";
  expect(policy).toStartWith("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;");
  expect(policy).toEndWith("connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  expect(policy).not.toContain("unsafe");
  expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
  expect(await answer.text()).not.toMatch(/<style|style=|<script(?! type="module" src="\/console\/)/);
});

test("the page names what it loads first, so that the browser has it in one go", async () => {
  const linksOf = async (path: string): Promise<string[]> => ((await open(path)).headers.get("link") ?? "").split(", ");
  const session = "</admin/v1/session>; rel=preload; as=fetch; crossorigin";
  const [, , entry = ""] = await assets();
  for (const path of ["", "overview", "spend", "requests", "requests/req_1", "sign-in", "config"]) {
    const links = await linksOf(path);
    expect([path, links.includes(session)]).toEqual([path, path !== "sign-in"]);
    const scripts = links.filter((link) => link !== session);
    expect(scripts[0]).toBe(`</console/${entry}>; rel=modulepreload`);
    expect(scripts.length).toBeWithin(2, 40);
    for (const script of scripts) {
      const [, name = ""] = /^<\/console\/(assets\/[\w-]+\.js)>; rel=modulepreload$/.exec(script) ?? [];
      expect((await open(name)).status).toBe(200);
    }
  }
  expect(await linksOf("")).toEqual(await linksOf("overview"));
  for (const path of ["nothing", "nothing/1", "__proto__", "constructor"])
    expect(await linksOf(path)).toEqual([session]);
});

test("the assets of the page exist, and are kept for good", async () => {
  const names = await assets();
  expect(names.map((name) => name.split(".").at(-1))).toEqual(["svg", "css", "js"]);
  for (const name of names) {
    const answer = await open(name);
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "public, max-age=31536000, immutable"]);
    const again = await open(name, { "if-none-match": answer.headers.get("etag") ?? "" });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  }
});

test.each([
  ["br, gzip", "br"],
  ["gzip", "gzip"],
  ["br;q=0, gzip", "gzip"],
  ["identity", null],
])("accept-encoding: %s is obeyed", async (accepted, coding) => {
  const [, style = ""] = await assets();
  const answer = await open(style, { "accept-encoding": accepted });
  expect([answer.headers.get("content-encoding"), answer.headers.get("vary")]).toEqual([coding, "accept-encoding"]);
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const decompress = { br: brotliDecompressSync, gzip: gunzipSync }[coding ?? ""];
  expect(new TextDecoder().decode(decompress?.(bytes) ?? bytes)).toContain("@layer");
});

test.each([
  "assets/nothing-00000000.js",
  "assets/../index.html",
  "assets/..%2f..%2fpackage.json",
  "assets/../../../package-00000000.js",
  "assets/main.js",
  "assets/",
  "assets/x-00000000.js.br",
])("%j is no asset", async (path) => {
  const refusal = await open(path).catch((reason: unknown) => reason);
  expect(refusal).toMatchObject({ code: "route_not_found" });
});
