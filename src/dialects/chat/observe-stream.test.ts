import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ObservedUsage } from "../../core/index.ts";
import { ChatStreamObserver } from "./observe-stream.ts";

/** Reads `usage` at the top level: a provider's own reader is not under test here. */
const readUsage = (chunk: Readonly<Record<string, unknown>>): ObservedUsage | undefined => {
  const groq = chunk["x_groq"] as { usage?: { completion_tokens: number } } | undefined;
  const usage = (chunk["usage"] ?? groq?.usage) as { completion_tokens: number } | null | undefined;
  return usage === null || usage === undefined ? undefined : { usage: { output: usage.completion_tokens } };
};

const data = (chunk: unknown): string => `data: ${typeof chunk === "string" ? chunk : JSON.stringify(chunk)}\n\n`;
const delta = (content: string, finish: string | null = null) => ({
  choices: [{ index: 0, delta: { content }, finish_reason: finish }],
});
const usageOnly = { choices: [], usage: { completion_tokens: 7 } };
const done = data("[DONE]");

/** Passes the blocks to an observer; returns it and the client's bytes. */
function watch(blocks: readonly string[], hideUsage = true) {
  const observer = new ChatStreamObserver(readUsage, hideUsage ? "hidden" : "shown");
  const shown = blocks.map((block) => observer.see(Buffer.from(block)).toString());
  return { observer, shown };
}

describe("a stream without usage, of which a client has asked for it", () => {
  const charged = () => ({ input: 3, output: 4 });
  const watchCharged = (...blocks: string[]): string => {
    const observer = new ChatStreamObserver(readUsage, charged);
    return blocks.map((block) => observer.see(Buffer.from(block)).toString()).join("");
  };
  const identity = { id: "x", model: "m" };

  test.each([
    [[`${data({ ...identity, ...delta("hi", "stop") })}${done}`]],
    [[data({ ...identity, ...delta("hi", "stop") }), done]],
  ])("gets what is charged before its end: %j", (blocks) => {
    const told =
      watchCharged(...blocks)
        .split("\n\n")
        .at(-3) ?? "";
    expect(JSON.parse(told.slice("data: ".length))).toMatchObject({
      ...identity,
      choices: [],
      usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    });
  });

  test("keeps its bytes otherwise", () => {
    const blocks = [data(delta("hi", "stop")), data(usageOnly), done];
    expect(watchCharged(...blocks)).toBe(blocks.join(""));
    expect(watchCharged(data(delta("hi")))).toBe(data(delta("hi")));
  });
});

describe("the usage chunk", () => {
  test("is read, and hidden from a client who did not ask for it", () => {
    const { observer, shown } = watch([data(delta("hi")), data(usageOnly), done]);
    expect(shown).toEqual([data(delta("hi")), "", done]);
    expect(observer.usage).toEqual({ usage: { output: 7 } });
  });

  test("is shown to a client who asked", () => {
    const { observer, shown } = watch([data(delta("hi")), data(usageOnly), done], false);
    expect(shown).toEqual([data(delta("hi")), data(usageOnly), done]);
    expect(observer.usage).toEqual({ usage: { output: 7 } });
  });

  test("is taken out of a block of several events, and nothing else is", () => {
    const { shown } = watch([data(delta("a")) + data(usageOnly) + data(delta("b", "stop")) + done]);
    expect(shown).toEqual([data(delta("a")) + data(delta("b", "stop")) + done]);
  });

  test.each<[string, unknown, boolean]>([
    ["a choice", { ...delta("x", "stop"), usage: { completion_tokens: 7 } }, true],
    ["no usage after all", { choices: [], usage: null }, true],
    ["filter results", { choices: [], prompt_filter_results: [{ usage: 1 }] }, true],
    ["no choices member", { usage: { completion_tokens: 7 } }, true],
    ["nothing but usage", usageOnly, false],
  ])("with %s is shown or not", (_, chunk, isShown) => {
    const { shown } = watch([data(chunk)]);
    expect(shown).toEqual([isShown ? data(chunk) : ""]);
  });

  test("comes with CRLF or without a space just as well", () => {
    const block = `data:${JSON.stringify(usageOnly)}\r\n\r\n`;
    const { observer, shown } = watch([block]);
    expect(shown).toEqual([""]);
    expect(observer.usage).toEqual({ usage: { output: 7 } });
  });

  test("of the last event counts, where every event has one", () => {
    const chunks = [1, 5, 9].map((tokens) => data({ ...delta("x"), usage: { completion_tokens: tokens } }));
    expect(watch(chunks).observer.usage).toEqual({ usage: { output: 9 } });
    expect(watch([...chunks, data({ ...delta(""), usage: null })]).observer.usage).toEqual({ usage: { output: 9 } });
  });

  test("is found beside a null one", () => {
    const chunk = { choices: [], usage: null, x_groq: { usage: { completion_tokens: 4 } } };
    expect(watch([data(chunk)]).observer.usage).toEqual({ usage: { output: 4 } });
    expect(watch([data(JSON.stringify(chunk).replace('"usage":null', '"usage" : null'))]).observer.usage).toEqual({
      usage: { output: 4 },
    });
  });

  test("is no word in a text", () => {
    const chunk = delta('the "usage" is {"usage":{"completion_tokens":99}}');
    const { observer, shown } = watch([data(chunk)]);
    expect(observer.usage).toBeUndefined();
    expect(shown).toEqual([data(chunk)]);
  });

  test("that is broken is passed on", () => {
    const { observer, shown } = watch(['data: {"usage":{"completion_tokens":5\n\n']);
    expect(shown).toEqual(['data: {"usage":{"completion_tokens":5\n\n']);
    expect(observer.usage).toBeUndefined();
  });
});

describe("the end of a stream", () => {
  test.each<[string, string[], { done: boolean; complete: boolean }]>([
    ["[DONE]", [data(delta("x")), done], { done: true, complete: true }],
    ["[DONE] without a space", ["data:[DONE]\n\n"], { done: true, complete: true }],
    ["[DONE] with CRLF", ["data: [DONE]\r\n\r\n"], { done: true, complete: true }],
    ["[DONE] behind an event of its block", [data(delta("x")) + done], { done: true, complete: true }],
    ["[DONE] that has no end", ["data: [DONE]"], { done: true, complete: true }],
    ["a finish reason", [data(delta("x", "stop"))], { done: false, complete: true }],
    [
      "a finish reason with spaces",
      ['data: {"choices": [{"finish_reason" : "length"}]}\n\n'],
      { done: false, complete: true },
    ],
    ["a finish reason before the usage", [data(delta("x", "stop")), data(usageOnly)], { done: false, complete: true }],
    [
      "a finish reason long ago",
      [data(delta("x", "stop")), ...Array.from({ length: 3 }, () => data(delta("y")))],
      { done: false, complete: false },
    ],
    ["nothing", [], { done: false, complete: false }],
    ["text", [data(delta("x"))], { done: false, complete: false }],
  ])("is judged by %s", (_, blocks, { done: isDone, complete }) => {
    const { observer } = watch(blocks);
    expect({ done: observer.done, complete: observer.complete, failed: observer.failed }).toEqual({
      done: isDone,
      complete,
      failed: false,
    });
  });

  test.each(["data: [DONE]", "\ndata: [DONE]\n", "\\ndata: [DONE]", "[DONE]", '"finish_reason":"stop"'])(
    "is not %j in a text",
    (text) => {
      const { observer, shown } = watch([data(delta(text)), data(delta("and on it goes"))]);
      expect([observer.done, observer.complete]).toEqual([false, false]);
      expect(shown.join("")).toBe(data(delta(text)) + data(delta("and on it goes")));
    },
  );

  test.each<[string, unknown, boolean]>([
    ["an error", { error: { message: "overloaded" } }, true],
    ["an error that is a text", { error: "overloaded" }, true],
    ["a null error", { ...delta("x"), error: null }, false],
    ["an error in a text", delta('{"error":"x"}'), false],
    ["an error within a choice", { choices: [{ delta: { content: "x" }, error: { code: 1 } }] }, false],
  ])("%s in an event", (_, chunk, failed) => {
    const { observer, shown } = watch([data(chunk)]);
    expect(observer.failed).toBe(failed);
    expect(shown).toEqual([data(chunk)]);
  });
});

describe("the output", () => {
  test("is measured over all blocks", () => {
    const { observer } = watch([data(delta("four")), data(delta("seven77")) + data(delta("é"))]);
    expect(observer.outputBytes).toBe(4 + 7 + 2);
  });
});

test("a client who asked gets every byte, and the others all but the usage", () => {
  const chunk = fc.constantFrom<unknown>(
    delta("a"),
    delta("b", "stop"),
    usageOnly,
    { ...delta("c"), usage: { completion_tokens: 1 } },
    { error: null, choices: [] },
  );
  fc.assert(
    fc.property(fc.array(fc.array(chunk, { minLength: 1, maxLength: 4 }), { maxLength: 5 }), (blocks) => {
      const texts = blocks.map((chunks) => chunks.map(data).join(""));
      expect(watch(texts, false).shown.join("")).toBe(texts.join(""));
      expect(watch(texts, true).shown.join("")).toBe(texts.join("").replaceAll(data(usageOnly), ""));
    }),
  );
});
