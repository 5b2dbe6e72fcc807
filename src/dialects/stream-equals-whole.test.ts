import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonObject } from "../core/index.ts";
import { chatTranslation } from "./chat/index.ts";
import type { DialectTranslation, UpstreamContext } from "./conversation/index.ts";
import { geminiTranslation } from "./gemini/index.ts";
import { messagesTranslation } from "./messages/index.ts";
import { responsesTranslation } from "./responses/index.ts";
import { chatAnswer, messagesAnswer, type StreamAndWhole } from "../../test/kit/dialects/arbitrary-answers.ts";
import { geminiAnswer } from "../../test/kit/dialects/arbitrary-gemini.ts";
import { responsesAnswer } from "../../test/kit/dialects/arbitrary-responses.ts";
import {
  chatUpstream,
  clientOf,
  geminiUpstream,
  messagesUpstream,
  responsesUpstream,
} from "../../test/kit/dialects/contexts.ts";
import { foldChat } from "../../test/kit/dialects/fold-chat.ts";
import { foldGemini, joinChunks } from "../../test/kit/dialects/fold-gemini.ts";
import { foldMessages } from "../../test/kit/dialects/fold-messages.ts";
import { foldResponses } from "../../test/kit/dialects/fold-responses.ts";
import { TranslatedStream } from "./translated-stream.ts";

interface Side {
  translation: DialectTranslation;
  answers: fc.Arbitrary<StreamAndWhole>;
  context: UpstreamContext;
  fold: (text: string) => Record<string, unknown>;
  /** A whole answer as its stream adds up: neighbouring texts are one. */
  joined?: (whole: JsonObject) => Record<string, unknown>;
}

const sides: Record<string, Side> = {
  chat: { translation: chatTranslation, answers: chatAnswer, context: chatUpstream, fold: foldChat },
  messages: {
    translation: messagesTranslation,
    answers: messagesAnswer,
    context: messagesUpstream,
    fold: foldMessages,
  },
  responses: {
    translation: responsesTranslation,
    answers: responsesAnswer,
    context: responsesUpstream,
    fold: foldResponses,
  },
  gemini: {
    translation: geminiTranslation,
    answers: geminiAnswer,
    context: geminiUpstream,
    fold: foldGemini,
    joined: (whole) => joinChunks([whole]),
  },
};

const pairs = Object.entries(sides).flatMap(([from, upstream]) =>
  Object.entries(sides).map(([to, client]) => ({ from, to, upstream, client })),
);

const client = clientOf({
  stream_options: { include_usage: true },
  generationConfig: { thinkingConfig: { includeThoughts: true } },
});

function open(upstream: Side, of: Side): TranslatedStream {
  return new TranslatedStream({
    upstream: upstream.translation,
    upstreamContext: upstream.context,
    client: of.translation,
    clientContext: client,
    charged: (told) => told?.usage ?? {},
  });
}

function translated(upstream: Side, of: Side, pieces: readonly Uint8Array[]): string {
  const stream = open(upstream, of);
  const shown = pieces.map((piece) => stream.see(Buffer.from(piece)).toString());
  return shown.join("") + stream.close().toString();
}

const bytesOf = (stream: readonly string[], end = "\n"): Buffer =>
  Buffer.from(stream.map((data) => `data: ${data}${end}${end}`).join(""));

describe.each(pairs)("$from translated to $to", ({ upstream, client: of }) => {
  test("adds up to the whole answer", () => {
    const property = fc.property(upstream.answers, ({ whole, stream }) => {
      const answer = upstream.translation.readAnswer(whole, upstream.context);
      answer.usage ??= {};
      const expected = JSON.parse(of.translation.writeAnswer(answer, client)) as JsonObject;
      const joined = of.joined?.(expected) ?? expected;
      expect(of.fold(translated(upstream, of, [bytesOf(stream)]))).toEqual(joined as Record<string, unknown>);
    });
    fc.assert(property, { numRuns: 200 });
  });

  test("is the same however the bytes are cut", () => {
    const cuts = fc.array(fc.nat(5_000), { maxLength: 8 });
    const property = fc.property(
      upstream.answers,
      cuts,
      fc.constantFrom("\n", "\r\n", "\r"),
      ({ stream }, places, end) => {
        const bytes = bytesOf(stream, end);
        const at = [0, ...places.map((place) => Math.min(place, bytes.length)).toSorted((a, b) => a - b), bytes.length];
        const pieces = at.slice(1).map((to, index) => bytes.subarray(at[index], to));
        expect(translated(upstream, of, pieces)).toBe(translated(upstream, of, [bytesOf(stream)]));
      },
    );
    fc.assert(property, { numRuns: 100 });
  });

  test.each(["\r\n", "\r"])("is the same cut at every byte, with lines that end with %j", (end) => {
    // The shortest of some that has characters of several bytes.
    const [bytes = Buffer.alloc(0)] = fc
      .sample(upstream.answers, { numRuns: 40, seed: 11 })
      .map(({ stream }) => bytesOf(stream, end))
      .filter((sample) => sample.includes("é") && sample.includes("😀"))
      .toSorted((a, b) => a.length - b.length);
    const expected = translated(upstream, of, [Buffer.from(bytes.toString().replaceAll(end, "\n"))]);
    expect(expected).toContain("😀");
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(translated(upstream, of, [bytes.subarray(0, at), bytes.subarray(at)])).toBe(expected);
    }
  });

  test("skips unknown events", () => {
    const strange = fc.constantFrom('{"type":"weather","sunny":true}', "ping", "null", "[1]", '{"object":"x"}', "");
    const property = fc.property(upstream.answers, strange, fc.nat(30), ({ stream }, event, place) => {
      const last = stream.length - 1;
      const at = Math.min(place, last);
      const more = [...stream.slice(0, at), event, ...stream.slice(at)];
      expect(translated(upstream, of, [bytesOf(more)])).toBe(translated(upstream, of, [bytesOf(stream)]));
    });
    fc.assert(property, { numRuns: 100 });
  });

  test("that breaks off ends with an error, and with nothing else", () => {
    const property = fc.property(upstream.answers, fc.nat(30), ({ stream }, place) => {
      const stop = stream.findIndex((data) =>
        /"(?:finish|stop)_reason":"|"finishReason":"|"type":"response.(?:completed|incomplete)"/.test(data),
      );
      const stopped = open(upstream, of);
      const shown =
        stopped.see(bytesOf(stream.slice(0, Math.min(place, stop)))).toString() + stopped.close().toString();
      expect([stopped.failed, stopped.cut, stopped.complete]).toEqual([true, true, false]);
      expect(shown.trimEnd().split("\n").at(-1)).toMatch(/"error":\{|"type":"error"/);
      expect(shown).not.toMatch(/message_stop|data: \[DONE\]\n|"finishReason"/);
    });
    fc.assert(property, { numRuns: 100 });
  });
});
