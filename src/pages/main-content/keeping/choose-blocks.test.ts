import { expect, test } from "bun:test";
import { parseHtml } from "../../html/parse.ts";
import { describePage } from "../main-content.ts";
import { chooseBlocks } from "./choose-blocks.ts";

test("doubtful blocks are chosen where much is doubtful, and none below the least chance", () => {
  const line = "<p>Eight words that are in each of these.</p>";
  const { blocks } = describePage(parseHtml(line.repeat(4)), "https://blog.test/a");
  expect(chooseBlocks(blocks, [0.9, 0.5, 0.4, 0.1])).toEqual([true, true, true, false]);
  expect(chooseBlocks(blocks, [0.9, 0.9, 0.9, 0.2])).toEqual([true, true, true, false]);
  expect(chooseBlocks(blocks, [0.9, 0.7, 0.5, 0.1], 0.6)).toEqual([true, true, false, false]);
});
