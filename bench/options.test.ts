import { describe, expect, test } from "bun:test";
import { parseOptions } from "./options.ts";
import type { Options } from "./options.ts";

function parse(...words: string[]): Options {
  const options = parseOptions(words);
  if (options === "help") throw new Error("no options but help");
  return options;
}

describe("--against", () => {
  test("compares a chat call, a stream and a large body unless other calls are named", () => {
    expect([...parse("--against", "HEAD~1").sections]).toEqual(["chat", "stream", "body"]);
    expect([...parse("--against", "HEAD~1", "--only", "messages-body").sections]).toEqual(["messages-body"]);
    expect([...parse("--against", "HEAD~1", "--only", "realtime").sections]).toEqual(["realtime"]);
  });

  test.each([
    [["--only", "chat,uploads"], '--only: "uploads" is no call and no session'],
    [["--proxies", "nginx"], "neither --soak nor --proxies"],
    [["--soak", "10"], "neither --soak nor --proxies"],
  ])("refuses an invalid comparison: %p", (words, message) => {
    expect(() => parse("--against", "HEAD~1", ...words)).toThrow(message);
  });
});

describe("--rounds", () => {
  test("is the default of the measurement unless set", () => {
    expect(parse().rounds).toBeNull();
    expect(parse("--rounds", "7").rounds).toBe(7);
  });

  test.each(["0", "1.5", "many"])("refuses %s", (text) => {
    expect(() => parse("--rounds", text)).toThrow("is no number of rounds");
  });
});
