import { describe, expect, test } from "bun:test";
import type { JsonObject, ObservedUsage } from "../../core/index.ts";
import { CompletionStreamObserver } from "./observe-stream.ts";

const readUsage = ({ usage }: JsonObject): ObservedUsage | undefined =>
  usage === undefined || usage === null ? undefined : { usage: { output: 3 } };

const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
const piece = (text: string, more: object = {}) =>
  event({ choices: [{ index: 0, text, finish_reason: null, ...more }], usage: null });
const usage = event({ choices: [], usage: { completion_tokens: 3 } });
const done = "data: [DONE]\n\n";

function observe(blocks: readonly string[], hidden: boolean) {
  const observer = new CompletionStreamObserver(readUsage, hidden);
  const shown = blocks.map((block) => observer.see(Buffer.from(block)).toString()).join("");
  return { observer, shown };
}

describe("a stream of completions", () => {
  const blocks = [piece("Gru\u00df"), piece(" dich") + piece("", { finish_reason: "stop" }) + usage + done];

  test("passes unchanged, and is counted", () => {
    const { observer, shown } = observe(blocks, false);
    expect(shown).toBe(blocks.join(""));
    expect(observer.outputBytes).toBe(10);
    expect([observer.usage, observer.done, observer.complete, observer.failed]).toEqual([
      { usage: { output: 3 } },
      true,
      true,
      false,
    ]);
  });

  test("loses the event with the usage that the client did not ask for, and nothing else", () => {
    const { observer, shown } = observe(blocks, true);
    expect(shown).toBe(blocks.join("").replace(usage, ""));
    expect(observer.usage).toEqual({ usage: { output: 3 } });
  });

  test("keeps a usage beside a choice", () => {
    const last = event({ choices: [{ index: 0, text: "", finish_reason: "stop" }], usage: { completion_tokens: 3 } });
    expect(observe([last], true).shown).toBe(last);
  });

  test("is complete by its finish reason, and fails by an error", () => {
    expect(observe([piece("a")], false).observer.complete).toBe(false);
    expect(observe([piece("a", { finish_reason: "length" })], false).observer.complete).toBe(true);
    expect(observe([event({ error: { message: "overloaded" } })], false).observer.failed).toBe(true);
  });
});
