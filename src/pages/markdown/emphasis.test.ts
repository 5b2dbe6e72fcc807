import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { bytesOf, pageRequest } from "../__fixtures__/request.ts";
import { takeApart } from "../take-apart.ts";

async function markdownOf(html: string): Promise<string> {
  return (await takeApart(bytesOf(html), pageRequest())).markdown ?? "";
}

const cases: readonly (readonly [name: string, html: string, markdown: string])[] = [
  ["quotation marks in Japanese", "<p>部分は<b>「太字」</b>です", "部分は「**太字**」です"],
  ["a full stop in Chinese", "<p><b>重要。</b>其他", "**重要**。其他"],
  ["letters only", "<p>部分は<b>太字</b>です", "部分は**太字**です"],
  ["quotation marks within a word", '<p>a<b>"b"</b>c', 'a"**b**"c'],
  ["at the edges of a line", "<p><b>「太字」</b>", "**「太字」**"],
  ["between spaces", "<p>a <b>(b)</b> c", "a **(b)** c"],
  ["signs alone", "<p>a<b>!?</b>b", "a!?b"],
  ["an escaped sign", "<p>a<b>*b*</b>c", "a\\***b**\\*c"],
  ["a link beside letters", '<p>には<b><a href="/x">リンク</a></b>を', "には[リンク](https://site.test/x)を"],
  ["nested emphasis", "<p>は<b><i>「太字」</i></b>です", "は「***太字***」です"],
  ["text that is struck out", "<p>は<s>「太字」</s>です", "は「~~太字~~」です"],
  ["neighbours", "<p>は<b>「太」</b><b>字」</b>です", "は「**太」字**」です"],
  ["one that the next one continues", "<p>は<b>「太</b><b>字</b>です", "は「**太字**です"],
  ["in a heading", "<h2>は<i>「太字」</i>です</h2>", "## は「*太字*」です"],
];

describe("emphasis is read as such, whatever is beside it", () => {
  for (const [name, html, markdown] of cases) test(name, async () => expect(await markdownOf(html)).toBe(markdown));

  test("no delimiter is left as text, if neighbours have a letter between them", async () => {
    const part = fc.constantFrom("太", "字", "「", "」", "。", "a", "b", " ", "(", ")", '"', "!", "é", "🎉", "1");
    const text = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(""));
    const inline = fc
      .tuple(fc.constantFrom("b", "i", "span"), text)
      .map(([name, inner]) => `<${name}>${inner}</${name}>`);
    const nested = fc
      .tuple(fc.constantFrom("b", "i"), fc.oneof(text, inline), text)
      .map(([name, inner, more]) => `<${name}>${inner}${more}</${name}>`);
    const pieces = fc.array(fc.oneof(text, nested), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(pieces, async (parts) => {
        const html = Bun.markdown.html(await markdownOf(`<p>x${parts.join("字")}`));
        expect(html.replaceAll(/<[^>]*>/g, "")).not.toMatch(/[*~]/);
      }),
      { numRuns: 300 },
    );
  });
});
