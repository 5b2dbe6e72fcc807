import { describe, expect, test } from "bun:test";
import { readClientEvent, typeOfEvent } from "./events.ts";

describe("the type of an upstream's event", () => {
  test.each([
    ['{"type":"response.done","response":{}}', "response.done"],
    ['{"event_id":"e","type":"response.created"}', "response.created"],
    [' { "event_id" : "e" , "type" : "error" }', "error"],
    ['{"item":{"type":"message"},"type":"conversation.item.added"}', "conversation.item.added"],
    ['{"ty\\u0070e":"response.done"}', "response.done"],
    ['{"type":"response\\u002edone"}', "response.done"],
    ['{"type":1}', undefined],
    ["[]", undefined],
    ["no JSON", undefined],
  ])("of %s is %p", (text, type) => {
    expect(typeOfEvent(text)).toBe(type);
  });
});

describe("a client's message", () => {
  test.each([
    ['{"type":"input_audio_buffer.append","audio":"AAAA"}', 4],
    ['{"event_id":"e","type":"input_audio_buffer.append","audio":"AA=="}', 4],
    ['{"type":"input_audio_buffer.append","event_id":"e","audio":""}', 0],
    ['{ "type": "input_audio_buffer.append", "audio": "+/+/" }', 4],
  ])("%s is audio", (text, base64Bytes) => {
    expect(readClientEvent(text)).toEqual({ kind: "audio", base64Bytes });
  });

  test.each([
    ['{"type":"response.cancel"}', "response.cancel", false],
    ['{"type":"input_audio_buffer.append","audio":"AA","type":"session.update"}', "session.update", true],
    ['{"type":"session.update","ty\\u0070e":"response.cancel"}', "response.cancel", true],
    ['{"type":"session.update","session":{"model":"a","model":"b"}}', "session.update", true],
    ['{"type":"session.update","session":{"tools":[{"type":"function"},{"type":"mcp"}]}}', "session.update", false],
    [
      '{"type":"conversation.item.create","item":{"content":[{"text":"\\"type\\": twice, \\"type\\":"}]}}',
      "conversation.item.create",
      false,
    ],
    ['{"type":"x","a":{"b":[{"c":1},{"c":2}],"b ":null}}', "x", false],
  ])("%s is an event", (text, type, hasTwins) => {
    expect(readClientEvent(text)).toMatchObject({ kind: "event", type, hasTwins });
  });

  test.each(["", "[]", "null", '{"type":null}', "\u0000\u0001", '{"type":"x"'])("%j is neither", (text) => {
    expect(readClientEvent(text)).toEqual({ kind: "unknown" });
  });

  test.each([
    ["too many brackets", `{"type":"x","a":${"[".repeat(1_000)}${"]".repeat(1_000)}}`],
    ["too many values", `{"type":"x","a":[${"1,".repeat(100_000)}1]}`],
    ["too many keys", `{"type":"x","a":[${'{"b":1},'.repeat(40_000)}1]}`],
  ])("with %s is not read", (_, text) => {
    expect(readClientEvent(text)).toEqual({ kind: "too-complex" });
  });
});
