import { describe, expect, test } from "bun:test";
import { objectOf } from "../../../core/index.ts";
import type { ToolDefinition } from "../../../mcp/index.ts";
import { mayCall } from "../../../tools/index.ts";
import { allowedDefinitions } from "./own-tools.ts";

const all = { tools: undefined } as Parameters<typeof allowedDefinitions>[1];

describe("a token's globs of tools", () => {
  test.each<[readonly string[] | undefined, string, boolean]>([
    [undefined, "chat", true],
    [["web_*"], "web_crawl", true],
    [["web_*"], "chat", false],
    [["web_*", "!web_crawl"], "web_crawl", false],
    [["!web_crawl", "web_*"], "web_crawl", false],
    [["!web_crawl"], "chat", true],
    [["!*"], "chat", false],
    [["chat", "!*"], "chat", false],
    [[], "chat", true],
  ])("%p: %s", (tools, name, may) => {
    expect(mayCall({ tools }, name)).toBe(may);
  });
});

describe("the definitions", () => {
  const definitions = allowedDefinitions({ chat: "openai/gpt-5-mini" }, all);

  test("name a model only if there is no default", () => {
    const required = Object.fromEntries(definitions.map(({ name, inputSchema }) => [name, inputSchema["required"]]));
    expect(required).toEqual({
      web_search: ["query"],
      web_scrape: ["url"],
      web_map: ["url"],
      web_crawl: ["url"],
      image_generate: ["model", "prompt"],
      image_edit: ["model", "prompt", "image"],
      speech_generate: ["model", "input"],
      audio_transcribe: ["model", "audio"],
      video_generate: ["model"],
      embed: ["model", "input"],
      chat: ["messages"],
      models_list: undefined,
      budget_get: undefined,
      job_get: ["id"],
    });
  });

  test("need no other document, and are small enough for a prompt", () => {
    const text = JSON.stringify(definitions);
    expect(text).not.toContain("$ref");
    expect(text).not.toContain("Not supported.");
    expect(text.length).toBeLessThan(16_000);
  });

  test("describe the members of scrapeOptions that agents use", () => {
    const crawl = definitions.find(({ name }) => name === "web_crawl")?.inputSchema;
    const options = objectOf(objectOf(crawl?.["properties"])?.["scrapeOptions"]);
    expect(Object.keys(objectOf(options?.["properties"]) ?? {})).toEqual(["formats", "onlyMainContent"]);
  });

  test("are the same objects for every call", () => {
    const models = { chat: "openai/gpt-5-mini" };
    expect(allowedDefinitions(models, all)[0]).toBe(allowedDefinitions(models, all)[0] as ToolDefinition);
  });
});
