import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../core/index.ts";
import { generate } from "./generate.ts";

const current = "gemini-3-flash-preview";
const older = "gemini-2.5-flash";
const bought = (tool: JsonObject, model = current) => generate.readTool?.(tool, {}, model);
const translated = (body: JsonObject, model = current) => generate.needsTranslation?.(body, model);

test("the address names the model, which cannot leave its place in it", () => {
  expect(generate.subpath?.("models/gemini-3-pro", false)).toBe("gemini-3-pro:generateContent");
  expect(generate.subpath?.("gemini-3-pro", true)).toBe("gemini-3-pro:streamGenerateContent?alt=sse");
  expect(generate.subpath?.("a/../b?x#y", false)).toBe("a%2F..%2Fb%3Fx%23y:generateContent");
});

test.each<[JsonObject, string, unknown]>([
  [{ functionDeclarations: [] }, current, {}],
  [{ function_declarations: [] }, current, {}],
  [{ urlContext: {} }, current, {}],
  [{ code_execution: {} }, current, {}],
  [{ googleSearch: {} }, current, { units: { webSearches: 10 } }],
  [{ google_search: {} }, older, { units: { webSearches: 1 } }],
  [{ googleSearchRetrieval: {} }, older, { units: { webSearches: 1 } }],
  [{ googleMaps: {} }, current, undefined],
  [{ fileSearch: {} }, current, undefined],
  [{ mcpServers: [] }, current, undefined],
  [{ constructor: {} }, current, undefined],
  [{ googleSearch: {}, googleMaps: {} }, current, undefined],
  [{}, current, {}],
])("the purchase of %j at %s", (tool, model, purchase) => {
  expect(bought(tool, model)).toEqual(purchase as object);
});

describe("a body is translated", () => {
  const call = { functionCall: { name: "f", args: {} } };
  const result = { role: "user", parts: [{ functionResponse: { name: "f", response: {} } }] };
  const user = { role: "user", parts: [{ text: "hi" }] };
  const model = (...parts: object[]) => ({ role: "model", parts });

  test.each<[string, JsonObject, boolean]>([
    ["one tool in an object", { tools: [{ googleSearch: {} }] }, false],
    ["no tools", { tools: null }, false],
    ["two tools in an object", { tools: [{ googleSearch: {}, urlContext: {} }] }, true],
    ["an object in place of a list", { tools: { googleSearch: {} } }, true],
    ["a call without its signature", { contents: [user, model(call), result] }, true],
    ["of an earlier turn", { contents: [user, model(call), result, user] }, false],
    [
      "of an earlier step of the turn",
      { contents: [user, model(call), result, model({ ...call, thoughtSignature: "s" }), result] },
      true,
    ],
    [
      "a signed call",
      { contents: [user, model({ text: "x" }, { ...call, thought_signature: "s" }, call), result] },
      false,
    ],
    ["one in snake case", { contents: [user, model({ function_call: {} }), result] }, true],
    ["one content", { contents: user }, false],
    ["a tier by its number", { contents: user, serviceTier: 2 }, true],
    ["a tier by its word", { contents: user, service_tier: "flex" }, false],
  ])("if it needs to be: %s", (_title, body, expected) => {
    expect(translated(body)).toBe(expected);
  });

  test("not for signatures at models that need none", () => {
    expect(translated({ contents: [user, model(call), result] }, older)).toBe(false);
  });
});

test.each<[JsonObject, string, unknown]>([
  [{}, current, undefined],
  [{ serviceTier: "standard" }, current, undefined],
  [{ service_tier: "FLEX" }, current, { terms: { serviceTier: "flex" } }],
  [{ generationConfig: { responseModalities: ["TEXT", "image"] } }, current, { outputBuckets: ["outputImage"] }],
  [{ generation_config: { response_modalities: ["AUDIO"] } }, current, { outputBuckets: ["outputAudio"] }],
  [{ generationConfig: { responseModalities: "IMAGE" } }, current, { outputBuckets: ["outputImage"] }],
  [
    { generationConfig: { responseModalities: [2] } },
    current,
    { outputBuckets: ["outputImage", "outputAudio", "outputVideo"] },
  ],
  [{}, "gemini-3-pro-image", { outputBuckets: ["outputImage"] }],
  [{}, "gemini-2.5-flash-preview-tts", { outputBuckets: ["outputAudio"] }],
])("the extras of %j at %s", (body, model, extras) => {
  expect(generate.extras?.(body, model)).toEqual(extras as object);
});
