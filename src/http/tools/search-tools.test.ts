import { expect, test } from "bun:test";
import { searchListing, searchModeOf } from "./search-tools.ts";

test("only a list above the bound is replaced, and any with ?mode=search", () => {
  const long = { tools: JSON.stringify([{ name: "x".repeat(4_000) }]), unavailable: ["dead"] };
  expect(searchListing(long, searchModeOf("http://a/mcp", undefined))).toBe(long);
  expect(searchListing(long, searchModeOf("http://a/mcp", 2_000))).toBe(long);
  for (const searched of [
    searchListing(long, searchModeOf("http://a/mcp", 500)),
    searchListing(long, searchModeOf("http://a/mcp?mode=search", undefined)),
  ]) {
    expect(searched.unavailable).toEqual(["dead"]);
    expect(JSON.parse(searched.tools)).toMatchObject([
      { name: "tool_search", inputSchema: { type: "object", required: ["query"] } },
      { name: "tool_describe" },
      { name: "tool_call" },
    ]);
  }
});
