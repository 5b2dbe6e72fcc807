import { describe, expect, test } from "bun:test";
import { bytesOf, pageRequest } from "../../__fixtures__/request.ts";
import type { PageRequest } from "../../page.ts";
import { takeApart } from "../../take-apart.ts";

const article =
  "<p>The whole text of an article that is much longer than anything that is hidden on its page.</p>".repeat(3);

async function read(html: string, changes: Partial<PageRequest> = {}) {
  const wants = { markdown: true, html: true, rawHtml: true, links: true };
  return takeApart(bytesOf(html), pageRequest({ wants, ...changes }));
}

const ways: readonly [name: string, html: string][] = [
  ["an attribute", "<p hidden>SECRET</p>"],
  ["display", '<p style="color: red; DISPLAY : none !important">SECRET</p>'],
  ["visibility", '<div style="visibility:hidden"><p>SECRET</p></div>'],
  ["aria-hidden", '<p aria-hidden="true">SECRET</p>'],
  ["a place outside", '<p style="position:absolute; left:-9999px">SECRET</p>'],
  ["a place above", '<p style="position:fixed;top:-100em">SECRET</p>'],
  ["an indent", '<p style="text-indent:-9999px">SECRET</p>'],
  ["no size", '<div style="width:0;height:0;overflow:hidden">SECRET</div>'],
  ["a size of one pixel", '<span style="position:absolute;width:1px;height:1px;overflow:hidden">SECRET</span>'],
  ["letters without a size", '<p>seen <span style="font-size:0">SECRET</span></p>'],
  ["a clip", '<p style="position:absolute;clip:rect(0 0 0 0)">SECRET</p>'],
  ["a class", "<style>.a{color:red} .b, .hide { display:none }</style><p class='x hide'>SECRET</p>"],
  ["an id", "<style>#gone{visibility:hidden}</style><p id=gone>SECRET</p>"],
  ["a name and a class", "<style>p.far{position:absolute;left:-5000px}</style><p class=far>SECRET</p>"],
  ["two classes", "<style>.a.b{display:none}</style><p class='b c a'>SECRET</p>"],
  ["a medium", "<style>@media screen and (min-width:600px){.m{display:none}}</style><p class=m>SECRET</p>"],
  ["a layer", "<style>@layer base{@supports (display:grid){.m{display:none}}}</style><p class=m>SECRET</p>"],
  ["a class that wins", "<style>#a{display:block}.h{display:none!important}</style><p id=a class=h>SECRET</p>"],
  ["a dialog that is closed", "<dialog>SECRET</dialog>"],
  ["the title before it", '<h1>Title</h1><div style="display:none">SECRET</div>'],
  ["a heading before a paragraph", '<h2>Part</h2><p style="display:none">SECRET</p>'],
  ["the browser's mark", '<p data-tollgate-hidden="away">SECRET</p>'],
  ["a noscript", `<noscript><p>${"word ".repeat(60)}</p><p style="display:none">SECRET</p></noscript>`],
];

describe("text that a reader doesn't see is in no text format", () => {
  for (const [name, html] of ways) {
    test.each([true, false])(`by ${name}, main content: %p`, async (onlyMainContent) => {
      const page = await read(`<main><h1>Title</h1>${article}${html}${article}</main>`, { onlyMainContent });
      expect(page.markdown).toContain("The whole text of an article");
      expect(page.markdown).not.toContain("SECRET");
      expect(page.html).not.toContain("SECRET");
      expect(page.rawHtml).toContain("SECRET");
    });
  }

  test("nor in the parts that selectors choose", async () => {
    const html = `${article}<div hidden><p class=a>SECRET</p></div><p class=a>seen <b hidden>SECRET</b></p>`;
    expect((await read(html, { includeTags: [".a"] })).markdown).toBe("seen");
  });

  test("links are those of the whole page", async () => {
    const page = await read(`${article}<nav hidden><a href="/there">There</a></nav>`);
    expect(page.links).toEqual(["https://site.test/there"]);
    expect(page.markdown).not.toContain("There");
  });

  test("the browser's marks are in no format", async () => {
    const page = await read(
      `${article}<div data-tollgate-hidden="folded" id=a>one</div><a href="#a" role=button>x</a>`,
    );
    expect(page.markdown).toContain("one");
    expect(page.html).not.toContain("tollgate");
    expect(page.rawHtml).not.toContain("tollgate");
  });
});

const shown: readonly [name: string, html: string][] = [
  ["a button names it", '<button aria-controls="a">Open</button><p>x</p><div id=a hidden>ANSWER</div>'],
  ["a link leads to it", '<a href="#b">Tab</a><p>x</p><div id=b style="display:none">ANSWER</div>'],
  ["Bootstrap's button opens it", '<a data-bs-target="#c">Open</a><p>x</p><div id=c hidden>ANSWER</div>'],
  ["it is a tab's panel", "<div role=tabpanel hidden>ANSWER</div>"],
  ["a class says so", '<div class="tab-pane fade" style="display:none">ANSWER</div>'],
  ["a heading is before it", '<h3>Question?</h3><div aria-hidden="true" hidden>ANSWER</div>'],
  ["a button is before it", '<h3><button>Question?</button></h3><p style="display:none">ANSWER</p>'],
  ["a term is before it", "<dl><dt>Term</dt><dd hidden>ANSWER</dd></dl>"],
  ["its details are closed", "<details><summary>Question?</summary><div hidden>ANSWER</div></details>"],
  ["it is found by a search in the page", '<p hidden="until-found">ANSWER</p>'],
  ["a rule of more weight shows it", "<style>p.a{display:block}.a{display:none}</style><p class=a>ANSWER</p>"],
  ["its own style shows it", "<style>.a{display:none}</style><p class=a style='display:block'>ANSWER</p>"],
  ["another medium hides it", "<style>@media print{.a{display:none}}</style><p class=a>ANSWER</p>"],
  ["a small window hides it", "<style>@media (max-width:600px){.a{display:none}}</style><p class=a>ANSWER</p>"],
  ["a part of it is visible", '<div style="visibility:hidden"><p style="visibility:visible">ANSWER</p></div>'],
  ["its letters have a size", '<ul style="font-size:0"><li style="font-size:14px">ANSWER</li></ul>'],
  ["it keeps proportions", '<div style="height:0;overflow:hidden;padding-bottom:56%"><p>ANSWER</p></div>'],
  ["a rule needs more than the element", "<style>.js .a{display:none}</style><p class=a>ANSWER</p>"],
];

describe("text that a reader sees, or can open, stays", () => {
  for (const [name, html] of shown)
    test(name, async () => expect((await read(`<main>${article}${html}</main>`)).markdown).toContain("ANSWER"));

  test("an element with most of the page's text, which a script shows", async () => {
    const page = await read(`<p>Loading</p><div style="visibility:hidden;opacity:0">${article}</div>`);
    expect(page.markdown).toContain("The whole text of an article");
  });

  test("what is kept from readers of screens, who get the same by another text", async () => {
    const price = '<span style="position:absolute;left:-9999px">$19.99</span><span aria-hidden="true">$1999</span>';
    const { markdown } = await read(`${article}<p>only ${price} today<span aria-hidden="true"> · </span>now</p>`);
    expect(markdown).toContain("only $1999 today · now");
  });
});

describe("hostile pages", () => {
  test("style sheets of any form", async () => {
    const sheets = [
      "{".repeat(50_000),
      "@media ".repeat(20_000),
      "@media screen{".repeat(5_000),
      "}{;:,".repeat(50_000),
      "/*",
      ".a{",
      "@",
    ];
    for (const sheet of sheets)
      expect((await read(`<style>${sheet}</style>${article}`)).markdown).toContain("The whole text");
  });

  test("many rules and many elements that are hidden in each other", async () => {
    const rules = Array.from({ length: 30_000 }, (_, at) => `.c${at % 700}{display:none}`).join("");
    const spans = '<span class="c1" style="visibility:hidden">'.repeat(400) + "x".repeat(100);
    const start = process.cpuUsage();
    const { markdown } = await read(`<style>${rules}</style>${`<div>${spans}</div>`.repeat(20)}${article.repeat(40)}`);
    const { user } = process.cpuUsage(start);
    expect(markdown).not.toContain("xxx");
    expect(user / 1_000).toBeLessThan(3_000);
  });
});
