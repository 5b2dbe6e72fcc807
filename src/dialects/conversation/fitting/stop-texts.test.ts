import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Answer, AnswerEvent, Stop } from "../answer.ts";
import { collectAnswer, eventsOfAnswer } from "../collect-answer.ts";
import type { AnswerBlock } from "../parts.ts";
import type { DialectTranslation } from "../translation.ts";
import { stoppingAt } from "./stop-texts.ts";

/** A client that gets what it is written. */
function listener(): { client: DialectTranslation; answers: Answer[]; events: AnswerEvent[] } {
  const answers: Answer[] = [];
  const events: AnswerEvent[] = [];
  const client = {
    writeAnswer: (answer: Answer) => (answers.push(answer), ""),
    streamWriter: () => ({ write: (event: AnswerEvent) => (events.push(event), "") }),
  } as unknown as DialectTranslation;
  return { client, answers, events };
}

const context = {} as Parameters<DialectTranslation["streamWriter"]>[0];
const answerOf = (...choices: readonly { blocks: AnswerBlock[]; stop: Stop }[]): Answer => ({
  id: "a",
  model: "m",
  created: 1,
  choices,
  usage: undefined,
  serviceTier: undefined,
});
const text = (value: string): AnswerBlock => ({ kind: "text", text: value });
const end: Stop = { reason: "end" };

/** The whole answer as it is written, and the one of its stream in pieces of some length. */
function cut(answer: Answer, sequences: readonly string[], pieceLength = 1): { whole: Answer; streamed: Answer } {
  const { client, answers, events } = listener();
  const stopping = stoppingAt(client, sequences);
  stopping.writeAnswer(answer, context);
  const writer = stopping.streamWriter(context);
  for (const event of eventsOfAnswer(answer)) {
    if (event.type !== "delta") {
      writer.write(event);
      continue;
    }
    for (let at = 0; at < event.text.length; at += pieceLength) {
      writer.write({ ...event, text: event.text.slice(at, at + pieceLength) });
    }
  }
  const [whole = answer] = answers;
  return { whole, streamed: collectAnswer(events) };
}

const shown = ({ choices }: Answer): unknown =>
  choices.map(({ blocks, stop }) => [
    blocks.map((block) => ("text" in block ? block.text : block.kind)).filter((one) => one !== ""),
    stop.reason,
    stop.sequence,
  ]);

describe("an answer", () => {
  test("ends before the first sequence, whatever comes behind it", () => {
    const call: AnswerBlock = { kind: "tool-call", callId: "c", name: "f", arguments: "{}" };
    const answer = answerOf({ blocks: [text("one END two"), call], stop: { reason: "tool-calls" } });
    const { whole, streamed } = cut(answer, ["two", "END"]);
    expect(shown(whole)).toEqual([[["one "], "stop-sequence", "END"]]);
    expect(shown(streamed)).toEqual(shown(whole));
  });

  test("without one is as it came", () => {
    const answer = answerOf({ blocks: [text("EN EN")], stop: end });
    const { whole, streamed } = cut(answer, ["END"]);
    expect(whole).toEqual(answer);
    expect(shown(streamed)).toEqual([[["EN EN"], "end", undefined]]);
  });

  test("may have one in its thoughts and in the arguments of calls", () => {
    const blocks: AnswerBlock[] = [
      { kind: "reasoning", text: "END" },
      { kind: "tool-call", callId: "c", name: "f", arguments: '{"a":"END"}' },
    ];
    const { whole, streamed } = cut(answerOf({ blocks, stop: { reason: "tool-calls" } }), ["END"]);
    expect(shown(whole)).toEqual([[["END", "tool-call"], "tool-calls", undefined]]);
    expect(shown(streamed)).toEqual(shown(whole));
  });

  test("of several choices ends for each by itself", () => {
    const answer = answerOf({ blocks: [text("aXb")], stop: end }, { blocks: [text("ab")], stop: end });
    const { whole, streamed } = cut(answer, ["X"]);
    expect(shown(whole)).toEqual([
      [["a"], "stop-sequence", "X"],
      [["ab"], "end", undefined],
    ]);
    expect(shown(streamed)).toEqual(shown(whole));
  });
});

test("a stream is cut where the whole answer is, in whatever pieces it comes", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "\n"), maxLength: 30 });
  const sequence = fc.string({ unit: fc.constantFrom("a", "b", "\n"), minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(
      letters,
      fc.array(sequence, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 7 }),
      (value, sequences, pieceLength) => {
        const { whole, streamed } = cut(answerOf({ blocks: [text(value)], stop: end }), sequences, pieceLength);
        const [choice] = whole.choices;
        const left = choice?.blocks[0];
        expect(left?.kind === "text" && sequences.every((one) => !left.text.includes(one))).toBe(true);
        expect(shown(streamed)).toEqual(shown(whole));
      },
    ),
    { numRuns: 2_000 },
  );
});
