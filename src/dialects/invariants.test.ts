import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError, type JsonObject } from "../core/index.ts";
import { chatTranslation } from "./chat/index.ts";
import type { AnswerEvent, DialectTranslation, UpstreamContext } from "./conversation/index.ts";
import { geminiTranslation } from "./gemini/index.ts";
import { messagesTranslation } from "./messages/index.ts";
import { responsesTranslation } from "./responses/index.ts";
import { chatAnswer, messagesAnswer } from "../../test/kit/dialects/arbitrary-answers.ts";
import { geminiAnswer, geminiBody } from "../../test/kit/dialects/arbitrary-gemini.ts";
import { chatBody, messagesBody } from "../../test/kit/dialects/arbitrary-requests.ts";
import { responsesAnswer, responsesBody } from "../../test/kit/dialects/arbitrary-responses.ts";
import {
  chatUpstream,
  clientOf,
  geminiUpstream,
  messagesUpstream,
  plainTarget,
  responsesUpstream,
} from "../../test/kit/dialects/contexts.ts";
import { dataOfStream } from "../../test/kit/dialects/fold-chat.ts";

interface Side {
  dialect: string;
  translation: DialectTranslation;
  context: UpstreamContext;
}

const chat: Side = { dialect: "chat", translation: chatTranslation, context: chatUpstream };
const messages: Side = { dialect: "messages", translation: messagesTranslation, context: messagesUpstream };
const gemini: Side = { dialect: "gemini", translation: geminiTranslation, context: geminiUpstream };
const responses: Side = { dialect: "responses", translation: responsesTranslation, context: responsesUpstream };

function eventsOf({ translation, context }: Side, stream: readonly string[]): AnswerEvent[] {
  const reader = translation.streamReader(context);
  return [...stream.flatMap((data) => [...reader.read(data)]), ...reader.close(), ...reader.close()];
}

/** Holds events to the order that every writer trusts. */
function checkOrder(events: readonly AnswerEvent[]): void {
  const names = events.map(({ type }) => type);
  expect(["start", "error"]).toContain(names[0] ?? "");
  expect(["end", "error"]).toContain(names.at(-1) ?? "");
  expect(names.filter((name) => name === "start").length).toBeLessThanOrEqual(1);
  expect(names.filter((name) => name === "end" || name === "error")).toHaveLength(1);
  const open = new Map<number, number | undefined>();
  const next = new Map<number, number>();
  const stopped = new Set<number>();
  for (const event of events) {
    if (!("choice" in event)) continue;
    expect(stopped.has(event.choice)).toBe(false);
    if (event.type === "stop") {
      expect(open.get(event.choice)).toBeUndefined();
      stopped.add(event.choice);
    } else if (event.type === "block-start") {
      expect(open.get(event.choice)).toBeUndefined();
      expect(event.index).toBe(next.get(event.choice) ?? 0);
      open.set(event.choice, event.index);
      next.set(event.choice, event.index + 1);
    } else {
      expect(open.get(event.choice)).toBe(event.index);
      if (event.type === "block-end") open.set(event.choice, undefined);
    }
  }
  if (names.at(-1) === "end") expect([...open.values()].every((index) => index === undefined)).toBe(true);
}

test.each([chat, messages, responses, gemini])(
  "a field of $dialect is carried unchanged if the target uses $dialect",
  (side) => {
    const { dialect, fields } = side.translation;
    const fates = Object.values(fields).map((rule) => rule.support[dialect]);
    expect(new Set(fates)).toEqual(new Set(["carried"]));
  },
);

describe("answer events are in order", () => {
  test.each([
    { ...chat, answers: chatAnswer },
    { ...messages, answers: messagesAnswer },
    { ...responses, answers: responsesAnswer },
    { ...gemini, answers: geminiAnswer },
  ])("from $dialect, whatever is missing, repeated or out of place", ({ answers, ...side }) => {
    const shuffled = answers.chain(({ stream }) =>
      fc.tuple(fc.constant(stream), fc.array(fc.nat(stream.length - 1), { maxLength: stream.length * 2 })),
    );
    const property = fc.property(shuffled, ([stream, places]) => {
      checkOrder(eventsOf(side, stream));
      checkOrder(
        eventsOf(
          side,
          places.map((place) => stream[place] ?? ""),
        ),
      );
    });
    fc.assert(property, { numRuns: 200 });
  });
});

describe("events of Messages are in order", () => {
  test.each([
    { ...chat, answers: chatAnswer },
    { ...messages, answers: messagesAnswer },
    { ...responses, answers: responsesAnswer },
    { ...gemini, answers: geminiAnswer },
  ])("from $dialect", ({ answers, ...side }) => {
    const property = fc.property(answers, ({ stream }) => {
      const writer = messagesTranslation.streamWriter(clientOf());
      const shown = eventsOf(side, stream).map((event) => writer.write(event));
      const events = dataOfStream(shown.join("")) as { type: string; index?: number }[];
      expect(events[0]?.type).toBe("message_start");
      expect(events.slice(-2).map(({ type }) => type)).toEqual(["message_delta", "message_stop"]);
      let index = 0;
      for (const event of events.filter((one) => one.index !== undefined)) {
        expect(event.index).toBe(index);
        if (event.type === "content_block_stop") index += 1;
      }
      const count = (type: string): number => events.filter((event) => event.type === type).length;
      expect(count("content_block_start")).toBe(index);
      expect(count("message_start")).toBe(1);
      expect(shown.join("")).toMatch(/^(event: \w+\ndata: [^\n]*\n\n)+$/);
    });
    fc.assert(property, { numRuns: 100 });
  });
});

describe("events of Responses are in order", () => {
  test.each([
    { ...chat, answers: chatAnswer },
    { ...messages, answers: messagesAnswer },
    { ...responses, answers: responsesAnswer },
    { ...gemini, answers: geminiAnswer },
  ])("from $dialect", ({ answers, ...side }) => {
    const property = fc.property(answers, ({ stream }) => {
      const writer = responsesTranslation.streamWriter(clientOf());
      const shown = eventsOf(side, stream)
        .map((event) => writer.write(event))
        .join("");
      const events = dataOfStream(shown) as { type: string; sequence_number: number; output_index?: number }[];
      expect(events.pop()).toBe("[DONE]" as never);
      expect(events.map((event) => event.sequence_number)).toEqual([...events.keys()]);
      const types = events.map(({ type }) => type.slice("response.".length));
      expect(types.slice(0, 2)).toEqual(["created", "in_progress"]);
      expect(types.filter((type) => type === "created" || type === "in_progress")).toHaveLength(2);
      expect(["completed", "incomplete"]).toContain(types.at(-1) ?? "");
      let index = 0;
      let parts = 0;
      for (const event of events.slice(2, -1)) {
        expect(event.output_index).toBe(index);
        if (event.type.endsWith("_part.added")) parts += 1;
        if (event.type.endsWith("_part.done")) parts -= 1;
        if (event.type === "response.output_item.done") {
          expect(parts).toBe(0);
          index += 1;
        }
      }
      expect(types.filter((type) => type === "output_item.added")).toHaveLength(index);
      expect(shown).toMatch(/^(event: [\w.]+\ndata: [^\n]*\n\n)+data: \[DONE\]\n\n$/);
    });
    fc.assert(property, { numRuns: 100 });
  });
});

/** The body with one of its values, anywhere in it, replaced. */
function spoil(value: unknown, by: unknown, steps: readonly number[]): unknown {
  const [step, ...rest] = steps;
  if (step === undefined || typeof value !== "object" || value === null) return by;
  const keys = Object.keys(value);
  const key = keys[step % Math.max(1, keys.length)];
  if (key === undefined) return by;
  const spoilt = spoil((value as JsonObject)[key], by, rest);
  return Array.isArray(value)
    ? value.map((one: unknown, index) => (String(index) === key ? spoilt : one))
    : { ...value, [key]: spoilt };
}

const strange = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    "",
    [],
    {},
    null,
    -1,
    1e300,
    "__proto__",
    { type: "text" },
    { type: "__proto__" },
    [null],
    [[]],
  ),
);

describe("whatever a client sends, it is read or refused by a field's name", () => {
  test.each([
    { ...chat, bodies: chatBody },
    { ...messages, bodies: messagesBody },
    { ...responses, bodies: responsesBody },
    { ...gemini, bodies: geminiBody },
  ])("in $dialect", ({ bodies, translation }) => {
    const property = fc.property(
      bodies,
      strange,
      fc.array(fc.nat(20), { minLength: 1, maxLength: 7 }),
      (body, by, steps) => {
        try {
          const conversation = translation.readRequest(spoil(body, by, steps) as JsonObject);
          for (const { translation: target } of [chat, messages, responses, gemini])
            JSON.stringify(target.writeRequest(conversation, plainTarget));
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error;
          expect(error.code).toBe("validation_failed");
          expect(error.param).toBeTruthy();
        }
      },
    );
    fc.assert(property, { numRuns: 500 });
  });
});

describe("any upstream event is translated or an error", () => {
  test.each([
    { ...chat, answers: chatAnswer },
    { ...messages, answers: messagesAnswer },
    { ...responses, answers: responsesAnswer },
    { ...gemini, answers: geminiAnswer },
  ])("in $dialect", ({ answers, ...side }) => {
    const steps = fc.array(fc.nat(20), { minLength: 1, maxLength: 7 });
    const property = fc.property(answers, strange, steps, fc.nat(50), ({ whole, stream }, by, path, place) => {
      const at = place % stream.length;
      const event = stream[at] ?? "";
      const spoilt = event === "[DONE]" ? JSON.stringify(by) : JSON.stringify(spoil(JSON.parse(event), by, path));
      const events = eventsOf(side, stream.with(at, spoilt));
      checkOrder(events);
      for (const { translation } of [chat, messages, responses, gemini]) {
        const writer = translation.streamWriter(clientOf());
        for (const one of events) writer.write(one);
      }
      try {
        const answer = side.translation.readAnswer(spoil(whole, by, path) as JsonObject, side.context);
        for (const { translation } of [chat, messages, responses, gemini])
          JSON.parse(translation.writeAnswer(answer, clientOf()));
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        expect(error.status).toBe(502);
      }
    });
    fc.assert(property, { numRuns: 500 });
  });

  test.each([chat, messages, responses, gemini])("as an error of $dialect", ({ translation }) => {
    fc.assert(
      fc.property(fc.integer({ min: 400, max: 599 }), fc.oneof(fc.string(), fc.json()), (status, body) => {
        const failure = translation.readFailure(status, body);
        expect(failure.message).not.toBe("");
        for (const client of [chat, messages, responses, gemini])
          JSON.parse(client.translation.writeFailure(failure, "req_1"));
      }),
    );
  });
});
