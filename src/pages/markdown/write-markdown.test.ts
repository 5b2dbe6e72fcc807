import { describe, expect, test } from "bun:test";
import { bytesOf, pageRequest } from "../__fixtures__/request.ts";
import { takeApart } from "../take-apart.ts";

async function markdownOf(html: string): Promise<string | undefined> {
  return (await takeApart(bytesOf(html), pageRequest())).markdown;
}

/** The Markdown that `markdown` is when it is read, as HTML: escaped text must come back as the text that it was. */
function asHtml(markdown: string): string {
  return Bun.markdown.html(markdown).trim();
}

type Case = readonly [name: string, html: string, markdown: string];

function check(cases: readonly Case[]): void {
  for (const [name, html, markdown] of cases) test(name, async () => expect(await markdownOf(html)).toBe(markdown));
}

describe("blocks", () => {
  check([
    ["headings", "<h1>One</h1><h2>Two</h2><h6>Six</h6>", "# One\n\n## Two\n\n###### Six"],
    ["paragraphs", "<p>one\n  two</p>three<div>four</div>", "one two\n\nthree\n\nfour"],
    ["empty ones are left out", "<p> </p><h2></h2><ul><li></li></ul><p>x</p>", "x"],
    ["a rule", "a<hr>b", "a\n\n---\n\nb"],
    ["line breaks", "<p>a<br>b<br><br>c</p>", "a  \nb\n\nc"],
    ["a quote of quotes", "<blockquote><p>a</p><blockquote>b</blockquote></blockquote>", "> a\n>\n> > b"],
    ["details", "<details><summary>More</summary><p>text</p></details>", "**More**\n\ntext"],
    ["definitions", "<dl><dt>Term<dd>Text<dd>More</dl>", "**Term**\n\nText\n\nMore"],
    ["a heading that ends with signs", "<h2>Languages like C #</h2>", "## Languages like C \\#"],
    ["a link to itself in a heading", '<h2>Title<a class="headerlink" href="#t">¶</a></h2>', "## Title"],
  ]);
});

describe("inline", () => {
  check([
    ["emphasis", "<em>a</em> <strong>b</strong> <del>c</del> <b><i>d</i></b>", "*a* **b** ~~c~~ ***d***"],
    ["spaces stay outside of emphasis", "a<b> b </b>c", "a **b** c"],
    ["neighbours join", "<b>a</b><b>b</b>", "**ab**"],
    [
      "neighbours join, however deep they are",
      "<b>a</b><span><b>:</b> c</span> <i><b>d</b></i><b>e</b>",
      "**a:** c ***d*e**",
    ],
    ["a star beside emphasis stays", "5*<b>b</b>", "5\\***b**"],
    ["signs that nobody sees", "Donau&shy;dampf\u200bschiff\ufeff", "Donaudampfschiff"],
    ["emphasis around blocks", "<b><p>a</p><p>b</p></b>", "**a**\n\n**b**"],
    ["emphasis without text", "a<b></b> <i class='icon'></i>b", "a b"],
    ["code", "<code>a  b</code> <code>a`b</code> <kbd>Ctrl</kbd>", "`a b` ``a`b`` `Ctrl`"],
    ["code that is a link", '<code><a href="/f">f()</a></code>', "[`f()`](https://site.test/f)"],
    ["links", '<a href="../x?a=1&amp;b=2#c" title="T">text</a>', '[text](https://site.test/x?a=1&b=2#c "T")'],
    ["a link that runs a script", '<a href="javascript:x()">text</a>', "text"],
    ["a link without text", '<a href="/x"></a>text', "text"],
    [
      "brackets in an address",
      '<a href="/a_(b)">x</a> <a href="/a(b">y</a>',
      "[x](https://site.test/a_%28b%29) [y](https://site.test/a%28b)",
    ],
    [
      "a card that is a link",
      '<a href="/x"><div><h3>Title</h3><p>Text</p></div></a>',
      "### [Title](https://site.test/x)\n\nText",
    ],
    ["a tile that is a link", '<a href="/x"><div>Text</div><div>More</div></a>', "[Text](https://site.test/x)\n\nMore"],
    ["images", '<img src="a.png" alt="An [image]">', "![An \\[image\\]](https://site.test/docs/a.png)"],
    [
      "an image in a link",
      '<a href="/x"><img src="/a.png" alt="A"></a>',
      "[![A](https://site.test/a.png)](https://site.test/x)",
    ],
    [
      "a lazy image",
      '<img src="data:image/gif;base64,R0lG" data-src="/real.jpg" alt="A">',
      "![A](https://site.test/real.jpg)",
    ],
    [
      "an image within the page",
      `<img alt="A" src="data:image/png;base64,${"A".repeat(900)}">`,
      "![A](<Base64-Image-Removed>)",
    ],
    ["a pixel that counts", '<img src="/p.gif" width="1" height="1">x', "x"],
    ["exponents", "x<sup>2</sup> and the 1<sup>st</sup>", "x² and the 1st"],
    [
      "a video",
      '<iframe src="https://www.youtube.com/embed/abcdefghijk" title="Talk"></iframe>',
      "[Talk](https://www.youtube.com/watch?v=abcdefghijk)",
    ],
    ["controls", "<button>Copy</button><select><option>a</select>text", "text"],
    ["a question behind a button", "<h3><button aria-expanded=false>Why?</button></h3><p>So.", "### Why?\n\nSo."],
  ]);
});

describe("lists", () => {
  check([
    ["nested", "<ul><li>a<ul><li>b<ol><li>c</ol></ul><li>d</ul>", "- a\n  - b\n    1. c\n- d"],
    ["numbers", '<ol start="9"><li>a<li>b<li value="20">c</ol>', "9. a\n10. b\n20. c"],
    ["indented by the marker's width", "<ol start=10><li>a<ul><li>b</ul></ol>", "10. a\n    - b"],
    ["a list beside its item", "<ul><li>a</li><ul><li>b</li></ul></ul>", "- a\n  - b"],
    ["paragraphs in items", "<ul><li><p>a</p><p>b</p><li><p>c</p></ul>", "- a\n\n  b\n\n- c"],
    ["one paragraph an item", "<ul><li><p>a</p></li><li><p>b</p></li></ul>", "- a\n- b"],
    ["tasks", "<ul><li><input type=checkbox checked> done<li><input type=checkbox>open</ul>", "- [x] done\n- [ ] open"],
    ["code in an item", "<ul><li>a<pre><code>x\ny</code></pre></ul>", "- a\n\n  ```\n  x\n  y\n  ```"],
  ]);
});

describe("code blocks", () => {
  const lines = "let a = 1;\n\n  let b = 2;";
  check([
    ["with a language", `<pre><code class="language-js">${lines}\n</code></pre>`, `\`\`\`js\n${lines}\n\`\`\``],
    ["GitHub's", `<div class="highlight highlight-source-js"><pre>${lines}</pre></div>`, `\`\`\`js\n${lines}\n\`\`\``],
    ["SyntaxHighlighter's", `<pre class="brush: js; gutter: false">${lines}</pre>`, `\`\`\`js\n${lines}\n\`\`\``],
    ["by an attribute", `<pre data-lang="js">${lines}</pre>`, `\`\`\`js\n${lines}\n\`\`\``],
    ["highlighted", '<pre><code class="hljs js"><span class="k">let</span> a</code></pre>', "```js\nlet a\n```"],
    ["with a fence in it", "<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"],
    ["with line breaks as elements", "<pre>a<br>b</pre>", "```\na\nb\n```"],
    ["a box for each line", "<pre><div class=line>a</div><div class=line>b</div></pre>", "```\na\nb\n```"],
    [
      "with numbers beside each line",
      '<pre><span class="lineno">1</span>a\n<span class="lineno">2</span>b</pre>',
      "```\na\nb\n```",
    ],
    [
      "a table with numbers",
      '<div class="language-sh"><table><tr><td class="linenos"><pre>1\n2</pre></td><td class="code"><pre>a\nb</pre></td></tr></table></div>',
      "```sh\na\nb\n```",
    ],
    [
      "a site generator's lines",
      '<pre class="gatsby-code-jsx"><code class="gatsby-code-jsx">a\n<span class="gatsby-highlight-code-line">b</span><span class="gatsby-highlight-code-line">c</span></code></pre>',
      "```jsx\na\nb\nc\n```",
    ],
  ]);
});

describe("tables", () => {
  check([
    ["with a header", "<table><tr><th>a<th>b<tr><td>1<td>2</table>", "| a | b |\n| --- | --- |\n| 1 | 2 |"],
    ["without", "<table><tr><td>1<td>2<tr><td>3<td>4</table>", "|  |  |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"],
    [
      "spans",
      "<table><tr><th>a<th colspan=2>b<tr><td rowspan=2>1<td>2<td>3<tr><td>4<td>5</table>",
      "| a | b |  |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n|  | 4 | 5 |",
    ],
    [
      "lines and bars in cells",
      "<table><tr><th>a<th>b<tr><td>x<br>y<td>p|q <code>r|s</code></table>",
      "| a | b |\n| --- | --- |\n| x<br>y | p\\|q `r\\|s` |",
    ],
    [
      "paragraphs and lists in cells",
      "<table><tr><th>a<th>b<tr><td><p>x<p>y<td><ul><li>p<li>q</ul></table>",
      "| a | b |\n| --- | --- |\n| x<br>y | - p<br>- q |",
    ],
    [
      "a caption",
      "<table><caption>Title</caption><tr><th>a<th>b<tr><td>1<td>2</table>",
      "Title\n\n| a | b |\n| --- | --- |\n| 1 | 2 |",
    ],
    ["one that arranges a page", "<table><tr><td><h1>Title</h1><td><p>text</p></table>", "# Title\n\ntext"],
    [
      "one in another",
      "<table><tr><td>a<td><table><tr><th>x<th>y<tr><td>1<td>2</table></table>",
      "a\n\n| x | y |\n| --- | --- |\n| 1 | 2 |",
    ],
  ]);
});

describe("footnotes", () => {
  check([
    [
      "with links back",
      '<p>Text<sup id="r1"><a href="#n1">1</a></sup>.</p><ol><li id="n1">Note. <a href="#r1">↩</a></ol>',
      "Text[^1].\n\n[^1]: Note.",
    ],
    [
      "an encyclopedia's",
      '<p>Text<sup class="reference" id="cite_ref-1"><a href="#cite_note-1">[1]</a></sup></p><ol class="references"><li id="cite_note-1"><a href="#cite_ref-1">^</a> <cite>Book</cite></ol>',
      "Text[^1]\n\n[^1]: *Book*",
    ],
    [
      "a link to a section is none",
      '<p><a href="#s">1</a></p><h2 id="s">Section</h2>',
      "[1](https://site.test/docs/page#s)\n\n## Section",
    ],
  ]);
});

describe("maths", () => {
  const math =
    '<math><semantics><mi>x</mi><annotation encoding="application/x-tex">x^2</annotation></semantics></math>';
  check([
    ["MathML", `is ${math}.`, "is $x^2$."],
    [
      "KaTeX",
      `is <span class="katex"><span class="katex-mathml">${math}</span><span class="katex-html" aria-hidden="true">x2</span></span>.`,
      "is $x^2$.",
    ],
    [
      "displayed",
      `a<span class="katex-display"><span class="katex">${math}<span class="katex-html">x2</span></span></span>b`,
      "a\n\n$$x^2$$\n\nb",
    ],
    ["MathJax 2", '<p>is <span class="MathJax_Preview">x2</span><script type="math/tex">x^2</script></p>', "is $x^2$"],
    [
      "MathML without its source",
      "<math><mfrac><mi>a</mi><msup><mi>b</mi><mn>2</mn></msup></mfrac><mo>=</mo><msqrt><mn>2</mn><mi>x</mi></msqrt></math>",
      "$\\frac{a}{b^2}=\\sqrt{2x}$",
    ],
    [
      "sums, accents and brackets in MathML",
      "<math><munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mover><mi>x</mi><mo>→</mo></mover><mo>{</mo><mi>sin</mi><mo>\u2061</mo><mi>y</mi><mo>}</mo></math>",
      "$∑_{i=1}^n\\vec{x}\\{\\sin y\\}$",
    ],
    [
      "matrices and words in MathML",
      "<math><mfenced><mtable><mtr><mtd><mn>1</mn></mtd><mtd><msub><mi>x</mi><mi>i</mi></msub></mtd></mtr><mtr><mtd><mn>0</mn></mtd><mtd><mroot><mi>y</mi><mn>3</mn></mroot></mtd></mtr></mtable></mfenced><mtext>if</mtext></math>",
      "$(\\begin{matrix} 1 & x_i \\\\ 0 & \\sqrt[3]{y} \\end{matrix})\\text{if}$",
    ],
    [
      "MathJax 3",
      "<mjx-container><mjx-math><mjx-c></mjx-c></mjx-math><mjx-assistive-mml><math><msup><mi>x</mi><mn>2</mn></msup></math></mjx-assistive-mml></mjx-container>",
      "$x^2$",
    ],
    [
      "TeX in the text",
      "<p>Let $a_{1} * b_{2} * c$ and \\(x_1^*\\) with \\[\\sum_{i} [i]\\] and $$\\left\\{ y_{3} \\right\\}$$",
      "Let $a_{1} * b_{2} * c$ and $x_1^*$ with $$\\sum_{i} [i]$$ and $$\\left\\{ y_{3} \\right\\}$$",
    ],
    ["prices and patterns are none", "<p>$5 *a* $6, \\(a*\\)", "$5 \\*a\\* $6, \\\\(a\\*\\\\)"],
    [
      "bars in a cell",
      "<table><tr><th>a<th>b<tr><td>$|x_1|$<td><math><mo>|</mo><mi>y</mi><mo>|</mo></math></table>",
      "| a | b |\n| --- | --- |\n| $\\|x_1\\|$ | $\\|y\\|$ |",
    ],
    ["MathJax 2, displayed", '<p>so</p><script type="math/tex; mode=display">x_1</script>', "so\n\n$$x_1$$"],
  ]);
});

describe("text is escaped only where it would be markup", () => {
  check([
    ["stars", "<p>5 * 3 and *a*</p><p>one* star", "5 * 3 and \\*a\\*\n\none* star"],
    ["underscores", "<p>snake_case_name</p><p>_a_ b", "snake_case_name\n\n\\_a\\_ b"],
    [
      "starts of lines",
      "<p># a</p><p>1. b</p><p>- c</p><p>+1</p><p>2.5</p><p>&gt; d</p>",
      "\\# a\n\n1\\. b\n\n\\- c\n\n+1\n\n2.5\n\n\\> d",
    ],
    ["rules", "<p>---</p><p>- -</p><p>===", "\\---\n\n\\- -\n\n\\==="],
    ["tags and entities", "<p>a &lt; b &lt;i> &amp;amp; AT&amp;T", "a < b \\<i> \\&amp; AT&T"],
    ["links", "<p>[a](b) and [c] and x!<a href=/y>y</a>", "\\[a\\](b) and \\[c\\] and x\\![y](https://site.test/y)"],
    ["backslashes", "<p>C:\\new \\* x", "C:\\new \\\\* x"],
    ["code", "<p>`a` and ```", "\\`a\\` and \\`\\`\\`"],
    ["bars only in cells", "<p>a|b", "a|b"],
  ]);

  const hard = [
    "*a* _b_ `c`",
    "1) x",
    "a\\*b",
    "<b>x</b>",
    "[a]: b",
    "~~x~~",
    "# h",
    "![x](y)",
    "&lt;",
    "***",
    "__init__",
    "a * b * c",
    "\\",
    "x_y_ z",
  ];
  for (const text of hard) {
    test(`${text} comes back`, async () => {
      const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
      const html = asHtml((await markdownOf(`<p>${escaped}</p>`)) ?? "");
      const read = html
        .replaceAll(/<\/?p>/g, "")
        .replaceAll("&lt;", "<")
        .replaceAll("&gt;", ">")
        .replaceAll("&quot;", '"')
        .replaceAll("&amp;", "&");
      expect(read).toBe(text);
    });
  }
});

describe("hostile pages are read in time", () => {
  const cases: readonly [name: string, html: string][] = [
    ["100,000 elements in each other", "<div>x".repeat(100_000)],
    ["lists in lists", "<ul><li>x".repeat(20_000)],
    ["quotes in quotes", "<blockquote>x".repeat(20_000)],
    ["emphasis in emphasis", "<b><i>x".repeat(20_000)],
    ["tables in tables", "<table><tr><td>x".repeat(5_000)],
    [
      "links to one note",
      `<p id=a><a href=#a>b</a>${"<a href=#n><sup>1</sup></a>".repeat(20_000)}<p id=n>${"<b>x</b>".repeat(20_000)}`,
    ],
    [
      "spans of cells",
      `<table><tr>${"<td colspan=1000 rowspan=1000>x".repeat(200)}${"<tr><td>y".repeat(5_000)}</table>`,
    ],
    ["stars", `<p>${"*a ".repeat(200_000)}`],
    ["brackets", `<p>${"[".repeat(200_000)}`],
    ["brackets in a link", `<a href=/x>${"[".repeat(100_000)}</a>`],
    ["spaces", `<p>a${" ".repeat(1_000_000)}b`],
    ["line breaks", `<p>a${"<br> ".repeat(200_000)}b`],
    ["digits", `<p>${"1".repeat(500_000)}`],
    ["backticks", `<p>${"`".repeat(200_000)}<pre>${"`".repeat(200_000)}</pre><code>${"` ".repeat(100_000)}</code>`],
    ["definitions", "<dl><dt>a<dd>".repeat(20_000)],
    ["formulas in formulas", `<p>x<math>${"<munderover><mfrac>".repeat(5_000)}<mi>x`],
    [
      "signs of formulas",
      `<p>${"$a ".repeat(100_000)}${"$$a_1".repeat(50_000)}${"\\\\(".repeat(100_000)}${"\\\\[a".repeat(100_000)}`,
    ],
    ["neighbours", `<p>${"<b>x</b>".repeat(50_000)}`],
  ];
  for (const [name, html] of cases)
    test(name, async () => expect((await markdownOf(html))?.length).toBeGreaterThan(0), 20_000);
});
