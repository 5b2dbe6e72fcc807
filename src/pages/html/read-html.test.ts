import { describe, expect, test } from "bun:test";
import { failureOf } from "../../../test/kit/failure-of.ts";
import { bytesOf, pageRequest } from "../__fixtures__/request.ts";
import type { Page, PageRequest } from "../page.ts";
import { takeApart } from "../take-apart.ts";

async function read(html: string, changes: Partial<PageRequest> = {}): Promise<Page> {
  return takeApart(bytesOf(html), pageRequest(changes));
}

describe("links", () => {
  const cases: readonly [name: string, html: string, links: string[]][] = [
    [
      "absolute, each once, without fragments",
      '<a href="/a#1">x</a><a href="/a#2">y</a><a href="b">z</a>',
      ["/a", "/docs/b"],
    ],
    [
      "of the web only",
      '<a href="mailto:a@b.c">x</a><a href="javascript:1">x</a><a href="#top">x</a><a href="">x</a>',
      [],
    ],
    ["areas of maps", '<map><area href="/m"></map>', ["/m"]],
    ["from the page's own base", '<base href="/other/"><a href="c">x</a>', ["/other/c"]],
    ["a base that is no address of the web", '<base href="javascript:x"><a href="c">x</a>', ["/docs/c"]],
  ];
  for (const [name, html, links] of cases) {
    test(name, async () => {
      const page = await read(html, { wants: { links: true }, onlyMainContent: true });
      expect(page.links).toEqual(links.map((path) => `https://site.test${path}`));
    });
  }

  test("and other attributes of the elements that match, as they are", async () => {
    const html = `<body><a href="b" DATA-id=1>x</a><div hidden><a href="b" data-id="">y</a></div><template><a data-id=3></a></template>
      <svg viewBox="0 0 1 1"></svg></body>`;
    const attributes = [
      { selector: "div > a, a:first-child", attribute: "data-ID" },
      { selector: "a", attribute: "href" },
      { selector: "svg", attribute: "viewBox" },
      { selector: "a", attribute: "constructor" },
    ];
    const page = await read(html, { wants: { attributes }, excludeTags: ["div"], onlyMainContent: true });
    expect(page.attributes?.map(({ values }) => values)).toEqual([["1", "", "3"], ["b", "b"], ["0 0 1 1"], []]);
    expect(page.attributes?.map(({ attribute }) => attribute)).toEqual(attributes.map(({ attribute }) => attribute));
    for (const selector of ["a[", "a".repeat(2_000)])
      expect(await failureOf(read(html, { wants: { attributes: [{ selector, attribute: "id" }] } }))).toMatchObject({
        failure: "selector",
      });
    const large = `<a title="${"x".repeat(1_000_000)}"></a>`;
    const often = Array.from({ length: 20 }, () => ({ selector: "a", attribute: "title" }));
    expect(await failureOf(read(large, { wants: { attributes: often } }))).toMatchObject({ failure: "too_large" });
  });

  test("also outside of the main content, but not what is excluded", async () => {
    const html = '<nav><a href="/nav">n</a></nav><main><a href="/main">m</a></main><aside><a href="/ad">a</a></aside>';
    const page = await read(html, { wants: { links: true }, onlyMainContent: true, excludeTags: ["aside"] });
    expect(page.links).toEqual(["https://site.test/nav", "https://site.test/main"]);
  });
});

test("images: those that are shown, those of sets and those that scripts would load", async () => {
  const html =
    '<meta property="og:image" content="/og.png"><img src="data:image/gif;base64,R0" data-src="/lazy.png">' +
    '<img src="/a.png" srcset="/a-1.png 1x, /a,b-2.png 2x"><picture><source srcset="/p.webp"><img></picture>' +
    '<noscript><img src="/n.png"></noscript><div style="background-image:url(\'/bg.png\')"></div><video poster="/v.png"></video>';
  const { images } = await read(html, { wants: { images: true } });
  expect(images).toEqual(
    ["/og.png", "/lazy.png", "/a.png", "/a-1.png", "/a,b-2.png", "/p.webp", "/n.png", "/bg.png", "/v.png"].map(
      (path) => `https://site.test${path}`,
    ),
  );
});

describe("metadata", () => {
  test("by Firecrawl's names, and every other tag by its own", async () => {
    const html =
      '<html lang="de"><head><title> A\n title </title><meta name="Description" content="About"><meta property="og:title" content="Open">' +
      '<meta property="og:image" content="/i.png"><meta name="robots" content="noindex"><meta name="theme-color" content="#fff">' +
      '<meta property="article:published_time" content="2026-01-02"><meta property="article:tag" content="a"><meta property="article:tag" content="b">' +
      '<link rel="icon" href="/f.ico"><link rel="canonical" href="/c"><meta name="author" content="Ann">';
    expect((await read(html)).metadata).toMatchObject({
      title: "A title",
      description: "About",
      language: "de",
      author: "Ann",
      robots: "noindex",
      ogTitle: "Open",
      "og:title": "Open",
      ogImage: "https://site.test/i.png",
      publishedTime: "2026-01-02",
      "article:tag": ["a", "b"],
      articleTag: "a, b",
      favicon: "https://site.test/f.ico",
      canonical: "https://site.test/c",
      "theme-color": "#fff",
    });
  });

  test("from JSON-LD where the tags are silent", async () => {
    const json = {
      "@graph": [
        {
          "@type": "NewsArticle",
          headline: "Head",
          datePublished: "2026-03-04",
          author: [{ name: "Bo" }, { name: "Cy" }],
        },
      ],
    };
    const { metadata } = await read(`<script type="application/ld+json">${JSON.stringify(json)}</script>`);
    expect(metadata).toMatchObject({ title: "Head", publishedTime: "2026-03-04", author: "Bo, Cy" });
  });

  test("JSON-LD that is none, or deep, is nothing", async () => {
    for (const json of ["{", "null", `${'{"@graph":['.repeat(50_000)}${"]}".repeat(50_000)}`]) {
      const { metadata } = await read(`<title>t</title><script type="application/ld+json">${json}</script>`);
      expect(metadata).toEqual({ title: "t" });
    }
  });

  test("a tag cannot reach the prototype", async () => {
    const { metadata } = await read('<meta name="__proto__" content="x"><meta name="constructor" content="y">');
    expect(Object.getPrototypeOf(metadata)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });
});

describe("what a reader never sees is left out", () => {
  const cases: readonly [name: string, html: string][] = [
    ["scripts and styles", "<script>secret</script><style>secret</style>"],
    ["comments and templates", "<!-- secret --><template>secret</template>"],
    ["hidden elements", '<p hidden>secret</p><p style="color:red;display: none">secret</p><dialog>secret</dialog>'],
    [
      "boxes that ask for consent",
      '<div id="onetrust-consent-sdk">secret</div><div class="x cc-window y">secret</div>',
    ],
  ];
  for (const [name, html] of cases) {
    test(name, async () => {
      const page = await read(`${html}<p>a text that is much longer than what is hidden</p>`, {
        wants: { markdown: true, html: true },
      });
      expect(page.markdown).toBe("a text that is much longer than what is hidden");
      expect(page.html).not.toContain("secret");
    });
  }

  test("but not a page that hides itself until its script runs", async () => {
    expect((await read('<div style="display:none"><p>the whole text</p></div>')).markdown).toBe("the whole text");
  });
});

describe("html", () => {
  test("has absolute addresses, and nothing that runs", async () => {
    const html =
      '<a href="/x" onclick="y()">a</a><img srcset="/s.png 1x, /l.png 2x"><script>z</script><a href="javascript:q">b</a>';
    const page = await read(`<div id=c>${html}</div>`, { wants: { html: true }, includeTags: ["#c"] });
    expect(page.html).toBe(
      '<div id="c"><a href="https://site.test/x">a</a><img src="https://site.test/l.png"><a>b</a></div>',
    );
  });

  test("escapes what a text contains", async () => {
    const page = await read("<p>&lt;script&gt;</p>", { wants: { html: true }, includeTags: ["p"] });
    expect(page.html).toBe("<p>&lt;script&gt;</p>");
  });

  test("rawHtml is the page as it came", async () => {
    const html = "<P>a<script>b</script>";
    expect((await read(html, { wants: { rawHtml: true } })).rawHtml).toBe(html);
  });
});

describe("shadow roots", () => {
  const root = (content: string): string => `<template shadowrootmode="open">${content}</template>`;
  const cases: readonly [name: string, html: string, markdown: string][] = [
    ["are shown in their place", `<p>a<my-app>${root("<h1>b</h1><p>c</p>")}</my-app><p>d`, "a\n\n# b\n\nc\n\nd"],
    [
      "show the element's own children in their slots",
      `<x-card>${root("<h2><slot name=title>None</slot></h2><slot></slot><p><slot name=foot>Foot</slot></p>")}<p>text</p><b slot=title>Title</b><i slot=other>nowhere</i></x-card>`,
      "## Title\n\ntext\n\nFoot",
    ],
    [
      "in others",
      `<x-a>${root(`<p>a</p><x-b>${root("<p>b <slot></slot></p>")}<slot></slot></x-b>`)}c</x-a>`,
      "a\n\nb c",
    ],
    ["and other templates are not", "<p>a<template><p>b</template>", "a"],
  ];
  for (const [name, html, markdown] of cases) {
    test(name, async () => expect((await read(html)).markdown).toBe(markdown));
  }
});

describe("selectors", () => {
  const html = '<div class="a">one <span>two</span></div><p>three</p><div class="a">four</div><a>x</a><a>y</a>';
  const cases: readonly [name: string, includeTags: string[], excludeTags: string[], markdown: string][] = [
    ["include a class", [".a"], [], "one two\n\nfour"],
    ["include a tag name", ["p"], [], "three"],
    ["exclude", [], ["span", "a", ".a:nth-of-type(2)"], "one\n\nthree"],
    ["both", [".a"], ["span"], "one\n\nfour"],
    ["nothing matches", ["#none"], [], ""],
    ["one in another is not repeated", ["div", "span"], [], "one two\n\nfour"],
    ["words of two do not run together", ["span", "p", "a"], [], "two\n\nthree\n\nx y"],
    ["with combinators", ["body > p, div.a:nth-of-type(2)"], [], "three\n\nfour"],
  ];
  for (const [name, includeTags, excludeTags, markdown] of cases) {
    test(name, async () => expect((await read(html, { includeTags, excludeTags })).markdown).toBe(markdown));
  }
});

describe("pages that need a browser", () => {
  const cases: readonly [name: string, html: string, needs: boolean][] = [
    ["the empty root of an application", '<div id="root"></div><script src=/a.js></script>', true],
    [
      "a message about scripts",
      "<noscript>You need to enable JavaScript to run this app.</noscript><p>Loading</p><script>x</script>",
      true,
    ],
    ["an article", `<script>x</script><p>${"word ".repeat(200)}`, false],
    ["a short page without scripts", "<p>Hello", false],
    ["data is no script", '<script type="application/ld+json">{}</script><p>Hello', false],
    ["a redirect", '<meta http-equiv="refresh" content="0;url=/x"><script>x</script>', false],
    [
      "posts for readers without scripts",
      `<div id="app"></div><script>x</script><noscript><p>${"word ".repeat(200)}</noscript>`,
      false,
    ],
  ];
  for (const [name, html, needs] of cases) test(name, async () => expect((await read(html)).needsBrowser).toBe(needs));
});

describe("the title", () => {
  const text = `<p>${"A sentence of the text, which is long enough to be one. ".repeat(12)}</p>`;

  test("stands in front of the main content, also where the page has it apart", async () => {
    const html = `<title>How to bind a book - Workshop</title><header><h1>Workshop</h1><h2>How to bind a book</h2></header><main>${text}</main>`;
    const { markdown } = await read(html, { onlyMainContent: true });
    expect(markdown?.split("\n")[0]).toBe("## How to bind a book");
  });

  test("the name of the site is none", async () => {
    const html = `<title>How to bind a book - Workshop</title><header><h1>Workshop</h1></header><main>${text}</main>`;
    expect((await read(html, { onlyMainContent: true })).markdown).toStartWith("A sentence");
  });
});

describe("selectors that take long", () => {
  const paragraphs = "<p>one</p>".repeat(30_000);

  test.each(["includeTags", "excludeTags"])("in %s end the reading after a second of a processor", async (member) => {
    const selectors = ["p:not(:nth-last-child(2n+1 of p ~ p ~ p)):has(~ p ~ p ~ i)"];
    const before = process.cpuUsage().user;
    const failure = await failureOf(read(paragraphs, { [member]: selectors }));
    expect(failure).toMatchObject({ failure: "slow_selectors" });
    expect(process.cpuUsage().user - before).toBeLessThan(6_000_000);
  });

  test("of which one comparison alone takes longer", async () => {
    const selectors = ["main:has(p:not(:nth-last-child(2n+1 of p ~ p ~ p)):has(~ p ~ p ~ i))"];
    const failure = await failureOf(read(`<main>${paragraphs}</main>`, { includeTags: selectors }));
    expect(failure).toMatchObject({ failure: "slow_selectors" });
  });
});

test("framesets are read by the pages of their own origin", async () => {
  const html = `<html><head><title>F</title></head><frameset cols="1,2"><frame src="/menu"><frame src="text.html">
    <frame src="https://other.test/x"><noframes>Your browser is too old.</noframes></frameset></html>`;
  const wanted = { wants: { markdown: true }, onlyMainContent: true };
  const addresses = ["https://site.test/menu", "https://site.test/docs/text.html"];
  expect((await read(html, wanted)).frames).toEqual(addresses);
  const frames = { [addresses[0] ?? ""]: "<a href=/a>Menu</a>", [addresses[1] ?? ""]: "<p>The text of the frame." };
  const { markdown } = await read(html, { ...wanted, frames });
  expect(markdown).toContain("The text of the frame.");
  expect(markdown).not.toContain("too old");
});
