import { describe, expect, test } from "bun:test";
import { bytesOf, pageRequest } from "../__fixtures__/request.ts";
import { takeApart } from "../take-apart.ts";

type Case = readonly [name: string, html: string, markdown: string];

function check(cases: readonly Case[]): void {
  for (const [name, html, markdown] of cases) {
    test(name, async () => expect((await takeApart(bytesOf(html), pageRequest())).markdown).toBe(markdown));
  }
}

describe("fields of forms say their values", () => {
  check([
    ["text", '<p>Name <input value="Ada"> <input type=hidden value="x"><input type=password value="y">', "Name Ada"],
    ["the option that is chosen", "<p>Size <select><option>S<option selected>M</select> left", "Size M left"],
    [
      "a choice that nobody has made",
      "<p>Size <select><optgroup label=x><option>S<option>M</optgroup></select>",
      "Size",
    ],
    ["lines of text", "<textarea>one\ntwo</textarea>", "one two"],
    ["a result", "<p>Sum: <output>42</output>", "Sum: 42"],
    ["progress and gauges", "<p><progress value=3 max=8></progress> <meter value=0.6>60 %</meter>", "3/8 60 %"],
    [
      "a value in a cell",
      '<table><tr><th>a<th>b<tr><td><input value="x|y"><td>z</table>',
      "| a | b |\n| --- | --- |\n| x\\|y | z |",
    ],
    ["buttons say nothing", '<p>x<input type=submit value="Send"></p>', "x"],
  ]);
});

describe("what elements stand for", () => {
  check([
    [
      "a time without a text",
      '<p>on <time datetime="2026-03-01"></time>, <time datetime="2026-03-02">2 March</time>',
      "on 2026-03-01, 2 March",
    ],
    ["numbers in chemical formulas", "<p>H<sub>2</sub>O, x<sub>i</sub>, x<sup>2</sup>", "H₂O, xi, x²"],
    ["ruby", "<p><ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rp>(</rp><rt>じ</rt><rp>)</rp></ruby>", "漢(かん)字(じ)"],
    [
      "sounds",
      '<audio src="/a.mp3"></audio><p>x <audio title="Talk"><source src="/b.mp3"></audio>',
      "[Audio](https://site.test/a.mp3)\n\nx\n\n[Talk](https://site.test/b.mp3)",
    ],
    [
      "a heading that is not closed",
      "<h1>Title<p>One paragraph.<p>Two.<table><tr><th>a<th>b<tr><td>c<td>d</table>end",
      "# Title\n\nOne paragraph.\n\nTwo.\n\n| a | b |\n| --- | --- |\n| c | d |\n\nend",
    ],
    ["a heading with blocks only", "<h2><p>A title</p></h2><p>x", "## A title\n\nx"],
    ["code with two backticks at the start", "<p><code>a``b</code> x", "`a``b` x"],
    ["code with one and two backticks at the start", "<p><code>a`b``c</code> x", "```a`b``c``` x"],
  ]);
});

describe("cells that span rows", () => {
  check([
    [
      "rows without cells of their own",
      "<table><tr><th>a<th>b<tr><td rowspan=2>1<td rowspan=2>2<tr><tr><td>3<td>4</table>",
      "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |",
    ],
    [
      "to the end of their group",
      "<table><tbody><tr><td rowspan=0>1<td>2<tr><td>3<tbody><tr><td>4<td>5</table>",
      "|  |  |\n| --- | --- |\n| 1 | 2 |\n|  | 3 |\n| 4 | 5 |",
    ],
    [
      "no further than their group",
      "<table><thead><tr><th rowspan=9>a<th>b</thead><tbody><tr><td>1<td>2</table>",
      "| a | b |\n| --- | --- |\n| 1 | 2 |",
    ],
  ]);
});

const math = (tex: string, display = "block"): string =>
  `<math display="${display}" alttext="${tex}"><semantics><mi>x</mi><annotation encoding="application/x-tex">${tex}</annotation></semantics></math>`;

describe("formulas", () => {
  check([
    [
      "bars in a formula of its own in a cell",
      `<table><tr><th>a<th>b<tr><td>${math(String.raw`P(x|y)=\|z\|`)}<td>c</table>`,
      String.raw`| a | b |
| --- | --- |
| $P(x\|y)=\Vert z\Vert$ | c |`,
    ],
    [
      "equations that a table puts in place",
      `<p>so</p><table class="ltx_equation ltx_eqn_table"><tr><td></td><td>${math("E=mc^{2}")}</td><td></td><td>(1)</td></tr></table><p>or</p>`,
      "so\n\n$$E=mc^{2}$$ (1)\n\nor",
    ],
    [
      "equations in parts",
      `<table class="ltx_equationgroup"><tr><td>${math("a", "inline")}<td>${math("=b|c", "inline")}<td>(2)<tr><td><td>${math("=d", "inline")}<td></table>`,
      "$$a =b|c$$ (2)\n\n$$=d$$",
    ],
    [
      "a table of formulas is a table",
      `<table><tr><th>name<th>formula<tr><td>one<td>${math("x^2", "inline")}</table>`,
      "| name | formula |\n| --- | --- |\n| one | $x^2$ |",
    ],
    [
      "a drawing whose source is in an attribute",
      '<p>for <span data-math="\\forall x"><span class="katex"><span class="katex-html" aria-hidden="true">∀x</span></span></span> so',
      "for $\\forall x$ so",
    ],
    [
      "a drawing without its source",
      '<p>for <span class="katex"><span class="katex-html" aria-hidden="true"><span>∀</span><span>x</span></span></span> so',
      "for ∀x so",
    ],
  ]);
});

describe("frames", () => {
  check([
    [
      "a document in an attribute",
      '<p>x</p><iframe srcdoc="<p>inner <b hidden>SECRET</b><a href=/y>z</a></p>"></iframe>',
      "x\n\ninner [z](https://site.test/y)",
    ],
    [
      "a page of another origin with a title",
      '<iframe src="https://maps.test/x" title="A map"></iframe>',
      "[A map](https://maps.test/x)",
    ],
    ["a page of another origin without one", '<p>x</p><iframe src="https://ads.test/x"></iframe>', "x"],
    [
      "a hidden one",
      '<p>x</p><iframe hidden srcdoc="<p>SECRET"></iframe><iframe style="display:none" title=t src="https://ads.test/x"></iframe>',
      "x",
    ],
  ]);

  test("pages of the same origin are named, and put in their places when they are given", async () => {
    const six = Array.from({ length: 6 }, (_, at) => `<iframe src="/f${at}#x"></iframe>`).join("");
    const bytes = bytesOf(`<p>x</p>${six}<iframe src="/docs/page"></iframe>`);
    const { frames } = await takeApart(bytes, pageRequest());
    expect(frames).toEqual(Array.from({ length: 5 }, (_, at) => `https://site.test/f${at}`));
    const given = { "https://site.test/f1": "<h2>One of the frames</h2><script>x</script><p hidden>SECRET</p>" };
    const page = await takeApart(bytes, pageRequest({ frames: given }));
    expect(page.frames).toBeUndefined();
    expect(page.markdown).toBe("x\n\n## One of the frames");
  });
});
