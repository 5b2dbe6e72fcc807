import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { startPageRoute } from "./start-page.ts";

const open = async (
  headers: Record<string, string>,
  { url = "http://gateway.example/", sandboxed = ["openai"] } = {},
) => {
  const call = { request: new Request(url, { headers }), requestId: "r", pathParameter: () => "" };
  const answer = await startPageRoute.handle(call, { version: "1.2.3", sandboxed });
  return { answer, text: await answer.text() };
};
const browser = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

test("a browser gets a page without scripts, whose style alone its policy permits", async () => {
  const { answer, text } = await open(browser);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("vary")).toBe("accept");
  expect(text).not.toContain("<script");
  const [, style = ""] = /<style>([^]*?)<\/style>/.exec(text) ?? [];
  const hash = createHash("sha256").update(style).digest("base64");
  const policy = answer.headers.get("content-security-policy");
  expect(policy).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  );
});

test.each([{ accept: "*/*" }, { accept: "application/json" }, {}])("others get JSON: %p", async (headers) => {
  const { answer, text } = await open(headers);
  expect(answer.headers.get("vary")).toBe("accept");
  expect(JSON.parse(text)).toMatchObject({ name: "Tollgate", version: "1.2.3", openapi: "/openapi.json" });
});

test("the page shows the address that the browser has", async () => {
  expect((await open(browser)).text).toContain("<code>http://gateway.example/v1</code>");
  const forwarded = await open({ ...browser, "x-forwarded-proto": "https" });
  expect(forwarded.text).toContain("<code>https://gateway.example/v1</code>");
  const hostile = await open({ ...browser, "x-forwarded-proto": "<script>" });
  expect(hostile.text).not.toContain("<script");
});

test("the page tells that simulators answer, if they do", async () => {
  expect((await open(browser)).text).toContain("in the place of openai");
  expect((await open(browser, { sandboxed: [] })).text).not.toContain("sandbox");
});
