/** Files that callers send: read like pages, and charged like them. */
import { expect, test } from "bun:test";
import { Firecrawl } from "@mendable/firecrawl-js";
import { makeDocx } from "../../src/pages/documents/__fixtures__/docx.ts";
import { makePdf } from "../../src/pages/documents/__fixtures__/pdf.ts";
import { creditsText, post } from "../kit/index.ts";
import { webScene } from "./web-scene.ts";

const scene = webScene(() => ({ web: { model: "openai/gpt-5-mini", page_limit: "1MiB" } }));

const html = "<!doctype html><title>Tides</title><main><h1>Tides</h1><p>High at noon.</p><a href='/x'>x</a></main>";

interface Parsed {
  status: number;
  body: { success: boolean; error?: string; code?: string; data: Record<string, unknown> & { markdown: string } };
}

async function parse(content: Blob, name: string, options?: string, key?: string): Promise<Parsed> {
  const { rig, caller } = scene();
  const form = new FormData();
  if (options !== undefined) form.append("options", options);
  form.append("file", content, name);
  const headers = key === undefined ? {} : { headers: { "idempotency-key": key } };
  const answer = await post(rig, "/v2/parse", caller.token, form, headers);
  return { status: answer.status, body: (await answer.json()) as Parsed["body"] };
}

test("the SDK sends HTML and gets Markdown and JSON", async () => {
  const { rig, caller } = scene();
  const client = new Firecrawl({ apiUrl: rig.gateway.url, apiKey: caller.token });
  const schema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] };
  const file = { data: html, filename: "tides.html", contentType: "text/html" };
  const { markdown, json, metadata } = await client.parse(file, { formats: ["markdown", { type: "json", schema }] });
  expect(markdown).toContain("High at noon.");
  expect(json).toHaveProperty("title");
  expect(metadata).toMatchObject({ title: "Tides", sourceURL: "tides.html", statusCode: 200 });
});

test.each([
  ["a PDF", makePdf([[[72, 700, 12, "Some words."]], [[72, 700, 12, "More."]]]), "a.pdf", "0.002"],
  ["a document of Word, of no named type", makeDocx("<w:p><w:r><w:t>Some words.</w:t></w:r></w:p>"), "a", "0.001"],
])("%s is charged by its pages", async (_, bytes, name, credits) => {
  const { caller } = scene();
  const before = await caller.closed();
  const { status, body } = await parse(new Blob([bytes], { type: "application/octet-stream" }), name);
  expect(status).toBe(200);
  expect(body.data.markdown).toContain("Some words.");
  expect(creditsText((await caller.closed()) - before)).toBe(credits);
});

test("a retry key answers the same file again, and another one not", async () => {
  const { caller } = scene();
  const before = await caller.closed();
  const first = await parse(new Blob([html]), "a.html", undefined, "file");
  const again = await parse(new Blob([html]), "a.html", undefined, "file");
  expect(again.body).toEqual(first.body);
  expect((await parse(new Blob([`${html} `]), "a.html", undefined, "file")).status).toBe(409);
  expect(creditsText((await caller.closed()) - before)).toBe("0.001");
});

test.each([
  ["a picture", new Blob([new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10])]), "a.png", "{}", "file"],
  ["a file that is too large", new Blob(["x".repeat(1_100_000)]), "a.txt", "{}", "file"],
  ["options that are no JSON", new Blob([html]), "a.html", "{", "options"],
  ["an option of a browser", new Blob([html]), "a.html", '{"formats":["screenshot"]}', "options"],
  ["the changes of a page", new Blob([html]), "a.html", '{"formats":["changeTracking"]}', "options"],
  ["a format that is none", new Blob([html]), "a.html", '{"formats":["nope"]}', "formats"],
])("%s is refused, and costs nothing", async (_, content, name, options, member) => {
  const { caller } = scene();
  const before = await caller.closed();
  const { status, body } = await parse(content, name, options);
  expect([status, body.success]).toEqual([422, false]);
  expect(body.error).toContain(member);
  expect((await caller.closed()) - before).toBe(0n);
});

test("a request without a file is refused", async () => {
  const { rig, caller } = scene();
  const form = new FormData();
  form.append("options", "{}");
  expect((await post(rig, "/v2/parse", caller.token, form)).status).toBe(422);
});
