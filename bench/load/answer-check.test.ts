import { describe, expect, test } from "bun:test";
import { AnswerCheck } from "./answer-check.ts";
import type { Expectation } from "./protocol.ts";

function check(expectation: Expectation, pieces: readonly string[], status = "200 OK"): AnswerCheck {
  const answer = new AnswerCheck(expectation);
  answer.head(`HTTP/1.1 ${status}\r\ncontent-type: x`);
  for (const piece of pieces) answer.body(Buffer.from(piece));
  return answer;
}

const json: Expectation = { kind: "json", marker: "marked" };
const stream: Expectation = { kind: "stream", events: 2 };
const rightStream = 'data: {"a":1}\n\ndata: {"b":2}\n\ndata: [DONE]\n\n';

describe("an answer in JSON", () => {
  test("is right when it holds the marker and ends as an object", () => {
    expect(check(json, ['{"a":"mar', 'ked"}']).problem()).toBeNull();
  });

  test("is wrong without the marker, cut short, or with another status", () => {
    expect(check(json, ['{"a":"other"}']).problem()).toContain("not the expected answer");
    expect(check(json, ['{"a":"marked"']).problem()).toContain("not the expected answer");
    expect(check(json, ['{"error":"marked"}'], "402 Payment Required").problem()).toContain("402 Payment Required");
  });
});

describe("a stream", () => {
  test("is right wherever its bytes are cut", () => {
    for (let size = 1; size <= rightStream.length; size += 1) {
      const pieces = rightStream.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
      const answer = check(stream, pieces);
      expect(answer.problem()).toBeNull();
      expect(answer.events).toBe(3);
    }
  });

  test("is wrong when an event is missing or too many", () => {
    expect(check({ kind: "stream", events: 3 }, [rightStream]).problem()).toBe("2 events instead of 3");
    expect(check({ kind: "stream", events: 1 }, [rightStream]).problem()).toBe("2 events instead of 1");
  });

  test("is wrong without its end", () => {
    expect(check(stream, [rightStream.replace("data: [DONE]\n\n", "")]).problem()).toContain("the stream ends with");
    expect(check({ kind: "open-stream" }, ['data: {"a":1}\n\n']).problem()).toContain("the stream ends with");
  });

  test("of Messages contains all words and ends with message_stop, wherever its bytes are cut", () => {
    const word = 'event: content_block_delta\ndata: {"text":" word"}\n\n';
    const end = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';
    const whole = word + word + end;
    const expected: Expectation = { kind: "messages-stream", events: 3, words: 2 };
    for (let size = 1; size <= whole.length; size += 1) {
      expect(check(expected, whole.match(new RegExp(`[^]{1,${size}}`, "g")) ?? []).problem()).toBeNull();
    }
    expect(check(expected, [word, word]).problem()).toContain("the stream ends with");
    expect(check(expected, [word, end]).problem()).toBe("2 events instead of 3");
    expect(check(expected, [word, word.replace("word", "w"), end]).problem()).toBe("1 words instead of 2");
  });

  test("is counted separately for each answer", () => {
    const answer = check(stream, [rightStream]);
    answer.head("HTTP/1.1 200 OK");
    answer.body(Buffer.from(rightStream));
    expect(answer.problem()).toBeNull();
  });
});
