import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError, type JsonObject } from "../core/index.ts";
import { chatTranslation } from "./chat/index.ts";
import type { TranslationTarget } from "./conversation/index.ts";
import { geminiTranslation } from "./gemini/index.ts";
import { messagesTranslation } from "./messages/index.ts";
import { responsesTranslation } from "./responses/index.ts";
import { geminiBody } from "../../test/kit/dialects/arbitrary-gemini.ts";
import { chatBody, messagesBody } from "../../test/kit/dialects/arbitrary-requests.ts";
import { responsesBody } from "../../test/kit/dialects/arbitrary-responses.ts";

const target: TranslationTarget = {
  model: "upstream-model",
  origin: "somebody",
  developerRole: true,
  reasoningField: "reasoning_content",
};

/** As JSON has it. */
const plain = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;

describe("the model's input comes out of it unchanged", () => {
  test("chat", () => {
    const property = fc.property(chatBody, (body) => {
      expect(plain(chatTranslation.writeRequest(chatTranslation.readRequest(body), target))).toEqual(body);
    });
    fc.assert(property, { numRuns: 300 });
  });

  test("messages", () => {
    const property = fc.property(messagesBody, (body) => {
      expect(plain(messagesTranslation.writeRequest(messagesTranslation.readRequest(body), target))).toEqual(body);
    });
    fc.assert(property, { numRuns: 300 });
  });

  test("gemini", () => {
    const property = fc.property(geminiBody, (body) => {
      expect(plain(geminiTranslation.writeRequest(geminiTranslation.readRequest(body), target))).toEqual(body);
    });
    fc.assert(property, { numRuns: 300 });
  });

  test("responses", () => {
    const property = fc.property(responsesBody, (body) => {
      expect(plain(responsesTranslation.writeRequest(responsesTranslation.readRequest(body), target))).toEqual(body);
    });
    fc.assert(property, { numRuns: 300 });
  });
});

/** Without the fields that are refused in the other dialect, which would be all that is ever seen. */
const without =
  (...names: string[]) =>
  (body: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));

const withoutSeveralCandidates = (body: JsonObject): JsonObject => {
  const { candidateCount: _, stopSequences: __, ...config } = (body["generationConfig"] ?? {}) as JsonObject;
  return { ...body, generationConfig: config };
};

describe("a request is translated, or refused by a field's name", () => {
  const sides = [
    {
      name: "chat",
      bodies: chatBody.map(without("n", "logprobs", "logit_bias", "stop")),
      translation: chatTranslation,
    },
    {
      name: "messages",
      bodies: messagesBody.map(without("container", "stop_sequences")),
      translation: messagesTranslation,
    },
    {
      name: "gemini",
      bodies: geminiBody.map(withoutSeveralCandidates),
      translation: geminiTranslation,
    },
    {
      name: "responses",
      bodies: responsesBody.map(without("conversation", "top_logprobs", "include")),
      translation: responsesTranslation,
    },
  ];
  const across = sides.flatMap(({ name: from, bodies, translation: reader }) =>
    sides
      .filter(({ name }) => name !== from)
      .map(({ name: to, translation: writer }) => ({ from, to, bodies, reader, writer })),
  );
  test.each(across)("from $from to $to", ({ bodies, reader, writer }) => {
    const property = fc.property(bodies, (body) => {
      const before = JSON.stringify(body);
      try {
        const written = writer.writeRequest(reader.readRequest(body), target);
        // The written body can be read by the dialect itself.
        writer.readRequest(plain(written));
      } catch (error) {
        expect(error).toBeInstanceOf(GatewayError);
        expect((error as GatewayError).status).toBe(422);
        expect((error as GatewayError).param).toBeTruthy();
      }
      expect(JSON.stringify(body)).toBe(before);
    });
    fc.assert(property, { numRuns: 300 });
  });
});
