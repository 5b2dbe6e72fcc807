import { describe, expect, test } from "bun:test";
import { GatewayError, limits } from "../../core/index.ts";
import type { AnswerBlock, AnswerEvent, StreamWriter } from "../conversation/index.ts";
import { readSummary, summaryOf, SummaryStreamWriter } from "./compaction.ts";

const textBlock = (text: string): AnswerBlock => ({ kind: "text", text });

describe("a summary", () => {
  test.each(["ok", 'Ω \u{1f642} " \\ \n\0', "x".repeat(limits.compactionBytesMax)])("comes back as it was", (text) => {
    const item = summaryOf([{ kind: "reasoning", text: "hm" }, textBlock(text)], "c1")?.value;
    expect(item).toMatchObject({ id: "cmp_c1_0", type: "compaction" });
    expect(readSummary(item ?? {}, "input.0")).toBe(`Summary of the conversation so far:\n\n${text}`);
  });

  test.each([[[]], [[textBlock(""), textBlock(" \n")]]])("without text is none", (blocks) => {
    expect(summaryOf(blocks, "c1")).toBeUndefined();
  });

  test.each<[string, unknown]>([
    ["another maker's", "gAAAAABp"],
    ["none", undefined],
    ["null", null],
  ])("is not read from %s", (_, content) => {
    expect(readSummary({ encrypted_content: content }, "input.0")).toBeUndefined();
  });

  test.each<[string, string]>([
    ["cut off", "3.b"],
    ["longer than it says", "1.b2s"],
    ["without a length", ".b2s"],
    ["not text", "2.__8"],
    ["empty", "0."],
    ["blank", "1.IA"],
    ["with another part", "2.b2s.b2s"],
    ["padded", "2.b2s="],
    ["too long", `${limits.compactionBytesMax + 1}.b2s`],
    ["of no number", "NaN.b2s"],
  ])("that is %s is refused", (_, rest) => {
    const item = { encrypted_content: `tollgate.summary.compaction.${rest}` };
    expect(() => readSummary(item, "input.3")).toThrow(GatewayError);
    expect(() => readSummary(item, "input.3")).toThrow(/^input\.3\.encrypted_content/);
  });
});

describe("a stream", () => {
  const written = (...events: AnswerEvent[]): AnswerEvent[] => {
    const passed: AnswerEvent[] = [];
    const recorder: StreamWriter = { write: (event) => (passed.push(event), "") };
    const writer = new SummaryStreamWriter(recorder, "c1");
    for (const event of events) writer.write(event);
    return passed;
  };
  const start = (block: AnswerBlock, choice = 0): AnswerEvent => ({ type: "block-start", choice, index: 0, block });
  const delta = (text: string, choice = 0): AnswerEvent => ({ type: "delta", choice, index: 0, text });
  const end: AnswerEvent = { type: "block-end", choice: 0, index: 0 };
  const stop: AnswerEvent = { type: "stop", choice: 0, stop: { reason: "end" } };

  test("has one item of all its texts, and none of its thoughts, calls and other choices", () => {
    const call = { kind: "tool-call", callId: "c", name: "f", arguments: "" } as AnswerBlock;
    const events = written(
      start({ kind: "reasoning", text: "" }),
      delta("hm"),
      end,
      start(textBlock("")),
      delta("a"),
      start(textBlock(""), 1),
      delta("z", 1),
      delta("b"),
      end,
      start(call),
      delta("{}"),
      end,
      start(textBlock("")),
      delta("c"),
      end,
      stop,
      { type: "end" },
    );
    expect(events.map(({ type }) => type)).toEqual(["block-start", "stop", "end"]);
    const [first] = events;
    const value = first?.type === "block-start" && first.block.kind === "native" ? first.block.value : {};
    expect(readSummary(value, "")).toEndWith("\n\nabc");
  });

  test("without text ends with an error, and with nothing after it", () => {
    const events = written(start(textBlock("")), end, stop, { type: "end" });
    expect(events).toMatchObject([{ type: "error", failure: { kind: "server" } }]);
  });
});
