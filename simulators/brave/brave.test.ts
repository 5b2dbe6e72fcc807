import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Simulators, startSimulators } from "../index.ts";
import { asArray, asObject, type JsonObject } from "../shared/json.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

function send(parameters: Record<string, string>, { vertical = "web", token = "BSA-test" } = {}): Promise<Response> {
  const query = new URLSearchParams(parameters).toString();
  return fetch(`${simulators.web.brave}/${vertical}/search?${query}`, { headers: { "x-subscription-token": token } });
}

async function search(parameters: Record<string, string>): Promise<{ web: JsonObject[]; query: JsonObject }> {
  const response = await send(parameters);
  expect(response.status).toBe(200);
  const parsed: unknown = await response.json();
  const body = asObject(parsed);
  return { web: asArray(asObject(body["web"])["results"]).map(asObject), query: asObject(body["query"]) };
}

function urlsOf({ web }: { web: readonly JsonObject[] }): string[] {
  return web.map(({ url }) => String(url));
}

test("the demo site's pages are found, with the words in bold unless asked not to", async () => {
  const marked = await search({ q: "frost pocket" });
  expect(urlsOf(marked)).toContain(`${simulators.site}/blog/frost-pocket`);
  expect(marked.web.some(({ title }) => String(title).includes("<strong>"))).toBe(true);
  const plain = await search({ q: "frost pocket", text_decorations: "false" });
  expect(JSON.stringify(plain)).not.toContain("<strong>");
  expect(urlsOf(plain)).toEqual(urlsOf(marked));
});

test("offsets count pages", async () => {
  const first = await search({ q: "tomato frost compost", count: "5" });
  const second = await search({ q: "tomato frost compost", count: "5", offset: "1" });
  expect(first.query["more_results_available"]).toBe(true);
  expect(urlsOf(second).some((url) => urlsOf(first).includes(url))).toBe(false);
  expect(urlsOf(await search({ q: "tomato frost compost", count: "10" }))).toEqual([
    ...urlsOf(first),
    ...urlsOf(second),
  ]);
});

test("operators and periods narrow it, unless they are switched off", async () => {
  const wiki = urlsOf(await search({ q: "frost site:wiki.example" }));
  expect(wiki.length).toBeGreaterThan(0);
  expect(wiki.every((url) => url.startsWith("https://wiki.example/"))).toBe(true);
  expect(urlsOf(await search({ q: "frost site:wiki.example", operators: "false" })).length).toBeGreaterThan(
    wiki.length,
  );
  const recent = await search({ q: "frost", freshness: "2026-04-01to2026-04-30" });
  expect(recent.web.length).toBeGreaterThan(0);
  expect(recent.web.every(({ age }) => String(age).startsWith("2026-04"))).toBe(true);
  expect((await search({ q: '"cold air flows downhill" -garden filetype:pdf' })).web.length).toBeGreaterThan(0);
});

test("without results there is no web", async () => {
  const body: unknown = await (await send({ q: "xyzzyplugh" })).json();
  expect(body).not.toHaveProperty("web");
  expect(asObject(await (await send({ q: "frost" }, { vertical: "news" })).json())["results"]).toHaveLength(2);
});

test("refusals have a type, a code and the place", async () => {
  const words = Array.from({ length: 51 }, () => "a").join(" ");
  const wrong = [
    { q: "" },
    { q: "a".repeat(401) },
    { q: words },
    { q: "a", count: "21" },
    { q: "a", offset: "10" },
    { q: "a", freshness: "2d" },
  ];
  for (const parameters of wrong) {
    const response = await send(parameters);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ type: "ErrorResponse", error: { status: 422, code: "VALIDATION" } });
  }
  expect((await fetch(`${simulators.web.brave}/web/search?q=a`)).status).toBe(422);
  const refused = await send({ q: "a" }, { token: "bad-key" });
  expect(await refused.json()).toMatchObject({ error: { code: "SUBSCRIPTION_TOKEN_INVALID" } });
  const limited = await send({ q: "a fault:status-429+retry-after-1" });
  expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "1"]);
  expect(limited.headers.get("x-ratelimit-limit")).toBe("20, 15000");
});
