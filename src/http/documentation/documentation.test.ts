import { expect, test } from "bun:test";
import { contentsRoute, pagesRoute } from "./documentation.ts";

const open = async (page: string, headers: Record<string, string> = {}): Promise<Response> => {
  const call = {
    request: new Request("http://gateway.example/", { headers }),
    requestId: "r",
    pathParameter: () => page,
  };
  return (page === "" ? contentsRoute : pagesRoute).handle(call, {});
};

test.each([
  ["", "text/html; charset=utf-8", "<h1>Tollgate</h1>"],
  ["money", "text/html; charset=utf-8", 'id="holds"'],
  ["api/chat", "text/html; charset=utf-8", 'id="createChatCompletion"'],
  ["assets/documentation.css", "text/css; charset=utf-8", "color-scheme"],
  ["assets/search.js", "text/javascript; charset=utf-8", "page-search"],
  ["assets/search.json", "application/json", "/docs/money#holds"],
])("%p is served", async (page, type, text) => {
  const answer = await open(page);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe(type);
  expect(await answer.text()).toContain(text);
});

test("a page permits its own style and script, and no other source", async () => {
  const policy = (await open("money")).headers.get("content-security-policy");
  expect(policy).toBe(
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
});

test("a browser that has the page already is not sent it again", async () => {
  const first = await open("money", { "accept-encoding": "br, gzip" });
  expect(first.headers.get("content-encoding")).toBe("gzip");
  const text = new TextDecoder().decode(Bun.gunzipSync(await first.arrayBuffer()));
  expect(text).toContain("<title>Money");
  const again = await open("money", { "if-none-match": first.headers.get("etag") ?? "" });
  expect([again.status, await again.text()]).toEqual([304, ""]);
});

test.each([
  [(tag: string) => `W/${tag}`, 304],
  [(tag: string) => `"other", ${tag}`, 304],
  [() => "*", 304],
  [(tag: string) => tag.slice(1, -1), 200],
  [() => '"other"', 200],
])("a client may name several versions, and weak ones", async (named, status) => {
  const etag = (await open("money")).headers.get("etag") ?? "";
  expect((await open("money", { "if-none-match": named(etag) })).status).toBe(status);
});

test.each([
  ["gzip", "gzip"],
  ["br;q=1, GZIP ; q=0.5", "gzip"],
  ["x-gzip", "gzip"],
  ["gzip;q=0", null],
  ["gzip; q=0.000, identity", null],
  ["not-gzip", null],
  ["br", null],
])("accept-encoding: %s is obeyed", async (accepted, encoding) => {
  const answer = await open("money", { "accept-encoding": accepted });
  expect(answer.headers.get("content-encoding")).toBe(encoding);
});

test.each([
  "nothing",
  "../package",
  "..",
  "assets/../../package.json",
  "assets/..%2f..%2fpackage.json",
  "api/../../README",
  "assets/documentation.ts",
  "money.html",
  "/etc/passwd",
  "money\0",
])("%j is no page", async (page) => {
  const refusal = await open(page).catch((reason: unknown) => reason);
  expect(refusal).toMatchObject({ code: "route_not_found" });
});
