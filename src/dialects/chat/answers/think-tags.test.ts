import { expect, test } from "bun:test";
import { collectAnswer } from "../../conversation/index.ts";
import { chatUpstream } from "../../../../test/kit/dialects/contexts.ts";
import { ChatStreamReader } from "./stream-reader.ts";

/** The blocks of an answer whose content arrives in these pieces. */
function blocksOf(thinkTags: boolean, ...pieces: string[]) {
  const reader = new ChatStreamReader({ ...chatUpstream, thinkTags });
  const chunk = (content: string, reason: string | null) =>
    JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: reason }] });
  const events = [...pieces.map((one) => chunk(one, null)), chunk("", "stop"), "[DONE]"].flatMap((data) => [
    ...reader.read(data),
  ]);
  return collectAnswer(events).choices[0]?.blocks.map(({ kind, ...block }) => [
    kind,
    "text" in block ? block.text : "",
  ]);
}

test.each<[string, [string, string][]]>([
  [
    "<think>hm</think>yes",
    [
      ["reasoning", "hm"],
      ["text", "yes"],
    ],
  ],
  [
    "\n<think>hm</th</think>\n\nyes <think>no</think>",
    [
      ["reasoning", "hm</th"],
      ["text", "\n\nyes <think>no</think>"],
    ],
  ],
  ["<think>hm", [["reasoning", "hm"]]],
  ["<think>hm</thi", [["reasoning", "hm</thi"]]],
  ["<think></think>yes", [["text", "yes"]]],
  ["<thin", [["text", "<thin"]]],
  [
    "<thought>hm</think></thought>yes",
    [
      ["reasoning", "hm</think>"],
      ["text", "yes"],
    ],
  ],
  ["<thoughtful>", [["text", "<thoughtful>"]]],
  ["yes <think>no</think>", [["text", "yes <think>no</think>"]]],
])("%p is taken apart, wherever it is cut", (content, blocks) => {
  expect(blocksOf(true, content)).toEqual(blocks);
  expect(blocksOf(true, ...Array.from(content))).toEqual(blocks);
  for (let at = 1; at < content.length; at += 1) {
    expect(blocksOf(true, content.slice(0, at), content.slice(at))).toEqual(blocks);
  }
});

test("tags are text if the upstream is not known to use them", () => {
  expect(blocksOf(false, "<think>hm</think>yes")).toEqual([["text", "<think>hm</think>yes"]]);
});
