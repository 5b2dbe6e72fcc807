import { describe, expect, test } from "bun:test";
import { decodedSizeOf } from "../../bodies/index.ts";
import { boundRerank } from "./bound.ts";
import { rerankRequest } from "./request.ts";

const parse = (more: object) => rerankRequest.safeParse({ model: "cohere/rerank-v3.5", query: "q", ...more });
const bound = (query: string, documents: unknown[]) =>
  boundRerank(rerankRequest.parse({ model: "cohere/x", query, documents }), decodedSizeOf);

describe("the bound", () => {
  test("has the query with each document, in bytes", () => {
    const { inputTokens, expectedInput, inputs, outputTokens } = bound("größe", ["abcd", "efghijkl"]);
    // 7 bytes with 4, and with 8, and 8 tokens around each pair.
    expect({ inputTokens, expectedInput, inputs, outputTokens }).toEqual({
      inputTokens: 26 + 16,
      expectedInput: { input: 7, searchUnits: 1 },
      inputs: 2,
      outputTokens: 0,
    });
  });

  test.each<[string, number, number, number]>([
    ["short documents", 100, 1, 1],
    ["one more", 101, 2, 2],
    // 100 documents of 1,001 bytes with the query, which may be three parts each.
    ["long documents", 100, 3, 1],
  ])("of search units: %s", (title, count, most, likely) => {
    const text = title === "long documents" ? "x".repeat(1_000) : "x";
    const { inputUnits, expectedInput } = bound(
      "q",
      Array.from({ length: count }, () => text),
    );
    expect([inputUnits, expectedInput?.searchUnits]).toEqual([{ searchUnits: most }, likely]);
  });

  test("counts a document that is an object as its JSON", () => {
    expect(bound("", [{ text: "abcd" }]).inputTokens).toBeGreaterThanOrEqual(4 + 8);
  });
});

describe("the body", () => {
  test.each<[object]>([
    [{ documents: ["x"] }],
    [{ documents: [{ text: "x" }, "y"], top_n: 5, return_documents: true }],
    [{ documents: ["x"], top_k: null, top_n: null, return_documents: null, stream: false }],
  ])("may be %j", (body) => {
    expect(parse(body).success).toBe(true);
  });

  test.each<[object, string]>([
    [{}, "documents"],
    [{ documents: "x" }, "documents"],
    [{ documents: [] }, "documents"],
    [{ documents: ["x", 1] }, "documents"],
    [{ documents: Array.from({ length: 10_001 }, () => "x") }, "documents"],
    [{ documents: ["x"], query: 7 }, "query"],
    [{ documents: ["x"], top_n: 0 }, "top_n"],
    [{ documents: ["x"], stream: true }, "stream"],
  ])("may not be %j: %s", (body, field) => {
    expect(parse(body).error?.issues.map(({ path }) => path.join("."))).toEqual([field]);
  });
});
