import { expect, test } from "bun:test";
import { parseHtml } from "../../html/parse.ts";
import { keepNotes } from "./keep-notes.ts";
import { describePage } from "../main-content.ts";

function keptOf(html: string, ...kept: boolean[]): boolean[] {
  keepNotes(describePage(parseHtml(html), "https://blog.test/a"), kept);
  return kept;
}

test("footnotes beside one that is content are content", () => {
  const notes =
    '<ol><li id="fn:1"><p>A long one.</p></li><li id="fn:2"><p>See <a href=/x>x</a>.</p></li></ol><p>Other</p>';
  expect(keptOf(notes, true, false, false)).toEqual([true, true, false]);
  expect(keptOf(notes, false, false, true)).toEqual([false, false, true]);
});

test("other lists are none", () => {
  expect(keptOf("<ol><li id=a>One</li><li id=b>Two</li></ol>", true, false)).toEqual([true, false]);
});
