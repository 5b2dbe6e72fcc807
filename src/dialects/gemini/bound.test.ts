import { describe, expect, test } from "bun:test";
import { decodedSizeOf } from "../../bodies/index.ts";
import { geminiCodec, geminiRequest } from "./index.ts";

const inputOf = (part: object): number =>
  geminiCodec.bound(geminiRequest.parse({ model: "openai/x", contents: { parts: [part] } }), decodedSizeOf).inputTokens;

const data = "A".repeat(100_000);
const picture = { mimeType: "image/png", data: "" };

describe("the input is at least its bytes", () => {
  test.each<[string, object]>([
    ["of a text", { text: data }],
    ["of a thought", { text: data, thought: true }],
    ["of arguments", { functionCall: { name: "f", args: { data } } }],
    ["of a result", { functionResponse: { name: "f", response: { data } } }],
    ["of a text beside an image", { text: data, inlineData: picture }],
    ["of a thought beside an image", { text: data, thought: true, inline_data: picture }],
    ["of arguments beside an image", { functionCall: { name: "f", args: { data } }, inlineData: picture }],
    ["of a text beside a file", { text: data, fileData: { fileUri: "https://a.example/b.png" } }],
    ["of a text beside a result with parts", { text: data, functionResponse: { name: "f", parts: [{}] } }],
    ["of a part of a result", { function_response: { name: "f", parts: [{ text: data, inlineData: picture }] } }],
    ["of a program", { executableCode: { code: data } }],
    ["of the name of a file", { inlineData: { mimeType: "application/pdf", data: "", displayName: data } }],
  ])("%s", (_title, part) => {
    expect(inputOf(part)).toBeGreaterThanOrEqual(100_000);
  });
});
