import { describe, expect, test } from "bun:test";
import { GatewayError, type JsonObject } from "../../core/index.ts";
import { mapRequest } from "../map/map-request.ts";
import { parseRequest } from "../parse-request.ts";
import { readFormats } from "./formats.ts";
import { scrapeRequest, withScheme } from "./scrape-request.ts";

function refusal(body: JsonObject, schema: typeof scrapeRequest | typeof mapRequest = scrapeRequest) {
  try {
    parseRequest<unknown>(schema, body);
  } catch (thrown) {
    if (thrown instanceof GatewayError) return { code: thrown.code, param: thrown.param, message: thrown.message };
    throw thrown;
  }
  return undefined;
}

const url = "https://example.com/";

describe("a scrape", () => {
  test.each<[string, JsonObject]>([
    ["nothing but an address", { url }],
    [
      "every supported format as a text",
      { url, formats: ["markdown", "html", "rawHtml", "links", "images", "summary"] },
    ],
    ["formats as objects", { url, formats: [{ type: "markdown" }, { type: "json", prompt: "the price" }] }],
    [
      "a screenshot",
      { url, formats: [{ type: "screenshot", fullPage: true, quality: 80, viewport: { width: 800, height: 600 } }] },
    ],
    ["what SDKs add", { url, origin: "js-sdk@4", integration: "x" }],
    [
      "unsupported members that ask for nothing",
      { url, redactPII: false, minAge: null, profile: null, skipTlsVerification: true },
    ],
    [
      "every action",
      {
        url,
        actions: [
          { type: "wait", milliseconds: 5 },
          { type: "wait", selector: "a" },
          { type: "click", selector: "a", all: true },
          { type: "write", text: "x" },
          { type: "press", key: "Enter" },
          { type: "scroll", direction: "down" },
          { type: "screenshot" },
          { type: "scrape" },
          { type: "executeJavascript", script: "1" },
          { type: "pdf", format: "A4" },
        ],
      },
    ],
    ["a PDF as it is", { url, parsers: [] }],
    ["some pages of a PDF", { url, parsers: [{ type: "pdf", mode: "ocr", maxPages: 3 }] }],
  ])("takes %s", (_, body) => {
    expect(refusal(body)).toBeUndefined();
  });

  test.each<[string, JsonObject, string]>([
    ["no address", {}, "url"],
    ["an unknown member", { url, formts: ["markdown"] }, "formts"],
    ["a format that nobody knows", { url, formats: ["markdwn"] }, "formats.0"],
    ["a format of Firecrawl's that is not supported", { url, formats: ["branding"] }, "formats.0"],
    ["such a format as an object", { url, formats: ["markdown", { type: "question", question: "?" }] }, "formats.1"],
    ["json without a schema", { url, formats: ["json"] }, "formats.0"],
    ["json with neither schema nor prompt", { url, formats: [{ type: "json" }] }, "formats.0"],
    ["an unknown member of a format", { url, formats: [{ type: "screenshot", full: true }] }, "formats.0.full"],
    ["a member that is not supported", { url, redactPII: true }, "redactPII"],
    ["a proxy that is not there", { url, proxy: "enhanced" }, "proxy"],
    ["a host header", { url, headers: { Host: "internal" } }, "headers.Host"],
    ["a header of the connection", { url, headers: { "Transfer-Encoding": "chunked" } }, "headers.Transfer-Encoding"],
    ["a header with a line break", { url, headers: { "x-a": "b\r\nc: d" } }, "headers.x-a"],
    ["a longer wait than half of the time", { url, waitFor: 40_000 }, "waitFor"],
    ["an action that nobody knows", { url, actions: [{ type: "dance" }] }, "actions.0.type"],
    ["an action without its selector", { url, actions: [{ type: "click" }] }, "actions.0.selector"],
    ["an unknown mode", { url, parsers: [{ type: "pdf", mode: "slow" }] }, "parsers.0.mode"],
    ["too little time", { url, timeout: 5 }, "timeout"],
  ])("refuses %s by its name", (_, body, param) => {
    const refused = refusal(body);
    expect(refused).toMatchObject({ code: "validation_failed", param });
    expect(refused?.message).toStartWith(`${param}: `);
  });
});

test("a header that cannot be set is refused with the reason", () => {
  const refused = refusal({ url, headers: { "Content-Length": "5" } });
  expect(refused?.message).toBe("headers.Content-Length: this header cannot be set");
});

describe("a map", () => {
  test("takes what Firecrawl's SDK sends", () => {
    const body = { url, search: "docs", limit: 10, sitemap: "only", includeSubdomains: false, origin: "js-sdk@4" };
    expect(refusal(body, mapRequest)).toBeUndefined();
  });

  test("refuses a limit beyond all, and unknown members", () => {
    expect(refusal({ url, limit: 1e6 }, mapRequest)).toMatchObject({ param: "limit" });
    expect(refusal({ url, depth: 1 }, mapRequest)).toMatchObject({ param: "depth" });
  });
});

describe("formats", () => {
  test("are markdown by default, and each once", () => {
    expect([...readFormats(undefined).names]).toEqual(["markdown"]);
    expect([...readFormats([]).names]).toEqual(["markdown"]);
    expect([...readFormats(["links", { type: "links" }]).names]).toEqual(["links"]);
  });

  test("keep what their objects say", () => {
    const schema = { type: "object" };
    const { json, screenshot } = readFormats([{ type: "json", schema }, "screenshot@fullPage"]);
    expect(json).toEqual({ schema, prompt: undefined });
    expect(screenshot).toEqual({ fullPage: true, quality: undefined, viewport: undefined });
    expect(readFormats([{ type: "screenshot", quality: 5 }]).screenshot?.quality).toBe(5);
  });
});

test.each([
  ["example.com", "https://example.com"],
  [" example.com/a ", "https://example.com/a"],
  ["example.com:8080/a", "https://example.com:8080/a"],
  ["http://example.com", "http://example.com"],
  ["HTTPS://example.com", "HTTPS://example.com"],
  ["file:///etc/passwd", "file:///etc/passwd"],
  ["javascript:alert(1)", "javascript:alert(1)"],
])("the address %s is %s", (written, address) => {
  expect(withScheme(written)).toBe(address);
});
