import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Simulators, startSimulators } from "../index.ts";
import { asArray, asObject, type JsonObject } from "../shared/json.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

function send(parameters: Record<string, string>, path = "/search"): Promise<Response> {
  const body = new URLSearchParams({ format: "json", ...parameters });
  return fetch(simulators.web.searxng + path, { method: "POST", body, redirect: "manual" });
}

async function search(parameters: Record<string, string>): Promise<JsonObject> {
  const response = await send(parameters);
  expect(response.status).toBe(200);
  const body: unknown = await response.json();
  return asObject(body);
}

function urlsOf(body: JsonObject): string[] {
  return asArray(body["results"]).map((result) => String(asObject(result)["url"]));
}

test("the demo site's pages are found, by a form and by a query string", async () => {
  const body = await search({ q: "tipping bucket" });
  expect(urlsOf(body)).toContain(`${simulators.site}/blog/tipping-bucket`);
  expect(asArray(body["results"])[0]).toMatchObject({
    template: "default.html",
    category: "general",
    engine: "alpha",
  });
  const response = await fetch(`${simulators.web.searxng}/search?q=tipping+bucket&format=json`);
  expect(await response.json()).toEqual(body);
});

test("commands in the query are obeyed", async () => {
  expect(await search({ q: "frost !images" })).toMatchObject({ query: "frost" });
  expect(urlsOf(await search({ q: "frost !images" }))).toEqual(["https://pictures.example/photos/late-frost"]);
  const german = urlsOf(await search({ q: ":de frost" }));
  expect(german.length).toBeGreaterThan(0);
  expect(german.every((url) => url.startsWith("https://www.gartenkalender.example/"))).toBe(true);
  const away = await send({ q: "frost !!wp" });
  expect([away.status, away.headers.get("location")]).toEqual([302, "https://wp.example/search?q=frost"]);
  expect(await search({ q: "frost !unknown :) <x" })).toMatchObject({ query: "frost !unknown :) <x" });
});

test("only some engines understand operators", async () => {
  const all = urlsOf(await search({ q: "frost site:wiki.example" }));
  const strict = urlsOf(await search({ q: "frost site:wiki.example", engines: "alpha" }));
  expect(strict.length).toBeGreaterThan(0);
  expect(strict.every((url) => url.startsWith("https://wiki.example/"))).toBe(true);
  expect(all.some((url) => !url.startsWith("https://wiki.example/"))).toBe(true);
});

test("pages, periods and categories", async () => {
  const first = urlsOf(await search({ q: "tomato frost compost", engines: "alpha" }));
  const second = urlsOf(await search({ q: "tomato frost compost", engines: "alpha", pageno: "2" }));
  expect([first.length, second.length]).toEqual([10, 10]);
  expect(second.some((url) => first.includes(url))).toBe(false);
  const recent = asArray((await search({ q: "tomato frost", time_range: "month" }))["results"]);
  expect(recent.every((result) => String(asObject(result)["publishedDate"]) >= "2026-05-01")).toBe(true);
  const news = urlsOf(await search({ q: "frost", categories: "news" }));
  expect(news.toSorted()).toEqual(["https://daily.example/story/late-frost", "https://news.example/local/late-frost"]);
});

test("refusals, faults and engines that fail", async () => {
  expect((await send({ q: "frost" }, "/html-only/search")).status).toBe(403);
  expect((await send({ q: "frost", format: "html" }, "/html-only/search")).headers.get("content-type")).toStartWith(
    "text/html",
  );
  for (const wrong of [{ q: "" }, { q: "a", pageno: "0" }, { q: "a", time_range: "hour" }]) {
    expect((await send(wrong)).status).toBe(400);
  }
  expect((await send({ q: "frost fault:status-429" })).status).toBe(429);
  const down = await search({ q: "frost engines:down" });
  expect(down).toMatchObject({
    results: [],
    unresponsive_engines: [
      ["alpha", "timeout"],
      ["beta", "timeout"],
      ["gamma", "timeout"],
    ],
  });
  const partly = await search({ q: "frost engines:partly" });
  expect(partly["unresponsive_engines"]).toEqual([["alpha", "timeout"]]);
  expect(urlsOf(partly).length).toBeGreaterThan(0);
});
