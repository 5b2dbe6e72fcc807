import fc from "fast-check";
import type { JsonObject } from "../../../src/core/index.ts";
import { piecesOf, sizes, type StreamAndWhole, text, word } from "./arbitrary-answers.ts";
import { base64, callsOf, round, schema, some, url } from "./arbitrary-requests.ts";

const userPart = fc.oneof(
  fc.record({ text }),
  fc.record({
    inlineData: fc.record({ mimeType: fc.constantFrom("image/png", "application/pdf", "audio/wav"), data: base64 }),
  }),
  fc.record({ fileData: fc.record({ fileUri: url }) }),
);

const thought = fc.record({ text, thought: fc.constant(true), thoughtSignature: base64 });

/** The model before its calls: a thought, and one text, since several become one. */
const said = fc
  .record({ thoughts: fc.array(thought, { maxLength: 1 }), texts: fc.array(fc.record({ text }), { maxLength: 1 }) })
  .map(({ thoughts, texts }): JsonObject[] => [...thoughts, ...texts]);

const exchanges = fc.array(
  fc.oneof(
    fc.record({ user: fc.array(userPart, { minLength: 1, maxLength: 3 }), model: said }),
    fc.record({ user: fc.array(userPart, { minLength: 1, maxLength: 2 }), model: said, round, sealed: base64 }),
  ),
  { minLength: 1, maxLength: 3 },
);

type Exchange = typeof exchanges extends fc.Arbitrary<(infer One)[]> ? One : never;

function contentsOf(exchange: Exchange, index: number): JsonObject[] {
  const { user, model } = exchange;
  const asked = { role: "user", parts: user };
  if (!("round" in exchange)) return [asked, { role: "model", parts: [...model, { text: "Yes." }].slice(-1) }];
  const calls = callsOf(exchange.round, index);
  const written = calls.map(({ id, name, said: args }, place) => ({
    functionCall: { id, name, args },
    ...(place === 0 ? { thoughtSignature: exchange.sealed } : {}),
  }));
  const results = calls.map(({ id, name }, place) => ({
    functionResponse: { id, name, response: { output: `r${place}` } },
  }));
  return [
    asked,
    { role: "model", parts: [...model, ...written] },
    { role: "user", parts: results },
    { role: "model", parts: [{ text: "So." }] },
  ];
}

const contents = exchanges.map((all) => [...all.flatMap(contentsOf), { role: "user", parts: [{ text: "And now?" }] }]);

const config = some(
  {
    temperature: fc.constantFrom(0, 0.5, 2),
    topP: fc.constantFrom(0.1, 1),
    topK: fc.integer({ min: 1, max: 40 }),
    maxOutputTokens: fc.integer({ min: 1, max: 9_000 }),
    stopSequences: fc.array(word, { minLength: 1, maxLength: 3 }),
    seed: fc.nat(),
    presencePenalty: fc.constantFrom(-1, 0.5),
    candidateCount: fc.constant(2),
    mediaResolution: fc.constant("MEDIA_RESOLUTION_LOW"),
    thinkingConfig: fc.oneof(
      fc.constant({ includeThoughts: true, thinkingLevel: "LOW" }),
      fc.constant({ thinkingLevel: "HIGH" }),
    ),
  },
  [],
).filter((value) => Object.keys(value).length > 0);

/** A body as the dialect writes it, with the members of its path. */
export const geminiBody: fc.Arbitrary<JsonObject> = some(
  {
    model: fc.constant("upstream-model"),
    stream: fc.constant(true),
    contents,
    systemInstruction: fc.record({ parts: fc.array(fc.record({ text }), { minLength: 1, maxLength: 2 }) }),
    tools: fc
      .uniqueArray(
        some({ name: word, description: text, parametersJsonSchema: schema }, ["name", "parametersJsonSchema"]),
        {
          minLength: 1,
          maxLength: 3,
          selector: ({ name }) => name,
        },
      )
      .map((functionDeclarations) => [{ functionDeclarations }]),
    generationConfig: config,
    safetySettings: fc.constant([{ category: "HARM_CATEGORY_HARASSMENT", threshold: "OFF" }]),
    labels: fc.dictionary(word, word),
    serviceTier: fc.constantFrom("flex", "priority"),
  },
  ["model", "contents"],
);

const answerParts = fc.record({
  thought: fc.option(thought, { nil: undefined }),
  said: fc.option(text, { nil: undefined }),
  calls: fc.uniqueArray(fc.record({ id: word, name: word, args: fc.dictionary(word, fc.oneof(text, fc.integer())) }), {
    maxLength: 3,
    selector: ({ id }) => id,
  }),
  sealed: fc.option(base64, { nil: undefined }),
  reason: fc.constantFrom("STOP", "MAX_TOKENS", "SAFETY", "OTHER"),
  usage: fc.record({
    prompt: fc.integer({ min: 51, max: 999 }),
    cached: fc.nat(50),
    said: fc.nat(500),
    thought: fc.nat(99),
  }),
  sizes,
});

/** An answer of Google's. */
export const geminiAnswer: fc.Arbitrary<StreamAndWhole> = answerParts.map((parts) => {
  const { usage, reason, sealed } = parts;
  const identity = { modelVersion: "upstream-model", responseId: "up" };
  const usageMetadata = {
    promptTokenCount: usage.prompt,
    cachedContentTokenCount: usage.cached,
    candidatesTokenCount: usage.said,
    thoughtsTokenCount: usage.thought,
    totalTokenCount: usage.prompt + usage.said + usage.thought,
  };
  const calls = parts.calls.map((call, index) => ({
    functionCall: call,
    ...(index === 0 && sealed !== undefined ? { thoughtSignature: sealed } : {}),
  }));
  const { thought: thinking, said: told } = parts;
  const wholeParts: JsonObject[] = [
    ...(thinking === undefined ? [] : [thinking]),
    ...(told === undefined ? [] : [{ text: told }]),
    ...calls,
  ];
  const pieces: JsonObject[] = [
    ...(thinking === undefined
      ? []
      : [
          ...piecesOf(thinking.text, parts.sizes).map((piece) => ({ text: piece, thought: true })),
          { text: "", thought: true, thoughtSignature: thinking.thoughtSignature },
        ]),
    ...piecesOf(told ?? "", parts.sizes).map((piece) => ({ text: piece })),
    ...calls,
  ];
  const chunk = (part: JsonObject) =>
    JSON.stringify({ candidates: [{ content: { parts: [part], role: "model" }, index: 0 }], ...identity });
  const end = { content: { parts: [{ text: "" }], role: "model" }, finishReason: reason, index: 0 };
  return {
    whole: {
      candidates: [{ content: { parts: wholeParts, role: "model" }, finishReason: reason, index: 0 }],
      usageMetadata,
      ...identity,
    },
    stream: [...pieces.map(chunk), JSON.stringify({ candidates: [end], usageMetadata, ...identity })],
  };
});
