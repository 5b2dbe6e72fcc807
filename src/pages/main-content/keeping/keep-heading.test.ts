import { expect, test } from "bun:test";
import { parseHtml } from "../../html/parse.ts";
import { describePage } from "../main-content.ts";
import { keepHeading } from "./keep-heading.ts";

function keptOf(html: string, ...kept: boolean[]): boolean[] {
  keepHeading(describePage(parseHtml(html), "https://blog.test/a"), kept);
  return kept;
}

test("the heading directly before the content stays, whatever the page's title is", () => {
  expect(keptOf("<title>t</title><h1>Tides</h1><p>Text</p>", false, true)).toEqual([true, true]);
  expect(keptOf("<title>t</title><h1>Tides</h1><p>Menu</p><p>Text</p>", false, false, true)).toEqual([
    false,
    false,
    true,
  ]);
});

test("the name of a site, and a heading of the page's header, are none", () => {
  expect(keptOf("<title>Tides - Harbour</title><h1>Harbour</h1><p>Text</p>", false, true)).toEqual([false, true]);
  expect(keptOf("<header><h1>Harbour</h1></header><p>Text</p>", false, true)).toEqual([false, true]);
  const search = "<header><h2>Search</h2></header><main><h1>Tides</h1><p>Text</p></main>";
  expect(keptOf(search, true, true, true)).toEqual([false, true, true]);
  const kicker = "<main><header><h2>Seas</h2><h1>Tides</h1></header><p>Text</p></main>";
  expect(keptOf(kicker, true, true, true)).toEqual([true, true, true]);
});
