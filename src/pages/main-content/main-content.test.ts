import { describe, expect, test } from "bun:test";
import { isTag, isText, type ChildNode } from "domhandler";
import { render } from "dom-serializer";
import fc from "fast-check";
import { parseHtml } from "../html/parse.ts";
import { mainContent } from "./main-content.ts";
import * as pages from "./__fixtures__/pages.ts";

function textOf(nodes: readonly ChildNode[]): string {
  const pieces: string[] = [];
  const waiting = nodes.toReversed();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (isText(node)) pieces.push(node.data);
    else if (isTag(node) && node.name !== "script") waiting.push(...node.children.toReversed());
  }
  return pieces.join(" ").replaceAll(/\s+/g, " ");
}

function contentOf(html: string, url = "https://example.com/"): { text: string; html: string; type: string } {
  const { nodes, pageType } = mainContent(parseHtml(html), { url });
  return { text: textOf(nodes), html: render(nodes), type: pageType };
}

describe("the content of a page", () => {
  test.each(pages.kinds)("of the type $type is found", ({ type, url, html, inside, outside }) => {
    const content = contentOf(html, url);
    for (const text of inside) expect(content.text).toContain(text);
    for (const text of outside) expect(content.text).not.toContain(text);
    expect(content.type).toBe(type);
  });

  test("keeps code, tables, pictures with captions, formulas and footnotes", () => {
    const { html } = contentOf(pages.richArticle, "https://blog.example.com/2026/03/how-caches-age");
    expect(html).toContain(
      '<code class="language-ts">const age = now - stored;\n\nif (age &gt; maxAge) evict(key);</code>',
    );
    expect(html).toContain("<td>LRU</td><td>12 ms</td>");
    expect(html).toContain('<img src="/chart.png" alt="Hit rate by age">');
    expect(html).toContain("<figcaption>");
    expect(html).toContain("<mi>e</mi>");
    expect(html).toContain('<script type="math/tex">h = 1 - m</script>');
    expect(html).toContain("measured over thirty days in one region");
  });

  test("that a script would show is shown", () => {
    const hidden = pages.richArticle.replace("<article>", '<article hidden style="display:none">');
    const { html } = contentOf(hidden, "https://blog.example.com/2026/03/how-caches-age");
    expect(html).toContain("evict(key)");
    expect(html).not.toContain("display:none");
  });

  test("is in JSON-LD where a script would show it", () => {
    const description =
      "A pan that is cast in one piece, seasoned twice with flax oil, and ready for a stove, an oven or a fire, for a life.";
    const product = { "@graph": [{ "@type": "Product", name: "Cast iron pan", description }] };
    const page = `<div id="app"></div><script type="application/ld+json">${JSON.stringify(product)}</script>`;
    expect(contentOf(page).html).toBe(`<h1>Cast iron pan</h1><p>${description}</p>`);
    const short = page.replace(
      "cast in one piece, seasoned twice with flax oil, and ready for a stove, an oven or a fire, for",
      "for",
    );
    expect(contentOf(short).text).not.toContain("A pan");
    expect(contentOf(page.replace('"@graph"', '"@graph')).text).toBe("");
  });

  test("is what a page without scripts has in noscript", () => {
    const noscript = pages.richArticle.replace("<main>", "<noscript>").replace("</main>", "</noscript>");
    const { html } = contentOf(noscript, "https://blog.example.com/2026/03/how-caches-age");
    expect(html).toContain("evict(key)");
    expect(html).not.toContain("noscript");
  });

  test("is the whole body of a page without content", () => {
    expect(contentOf("<p>Hello</p>").text).toContain("Hello");
    expect(contentOf("").text).toBe("");
    expect(contentOf("<img src=a.png>").html).toContain("a.png");
    expect(contentOf("<frameset><frame src=a></frameset>").text).toBe("");
  });

  test("does not depend on a valid address", () => {
    expect(contentOf(pages.richArticle, "not an address").text).toContain("evict(key)");
  });
});

describe("hostile pages", () => {
  test("any markup gives nodes whose text is the page's", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "<div>",
        "</div>",
        "<p>",
        "<table>",
        "<tr>",
        "<td>",
        "<li>",
        "<ul>",
        "<a href=x>",
        "</a>",
        "<br>",
        "<pre>",
        "<select>",
        "<svg>",
        "<math>",
        "<template>",
        "<body>",
        "<b>",
      ),
      fc.lorem({ maxCount: 30 }),
      fc.string({ unit: "grapheme", maxLength: 20 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const document = parseHtml(pieces.join(""));
        const all = textOf(document.children).replaceAll(/\s/g, "");
        const { nodes } = mainContent(document, { url: "https://example.com/" });
        const counts = new Map<string, number>();
        for (const letter of all) counts.set(letter, (counts.get(letter) ?? 0) + 1);
        for (const letter of textOf(nodes).replaceAll(/\s/g, "")) {
          const left = (counts.get(letter) ?? 0) - 1;
          expect(left).toBeGreaterThanOrEqual(0);
          counts.set(letter, left);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("many levels, many links, many table cells", () => {
    const many = 20_000;
    const words = "Sentences of some length, with commas, are what a reader looks for. ".repeat(8);
    const deep = contentOf(`${"<div>".repeat(many)}<p>${words}</p>`);
    expect(deep.text).toContain("what a reader looks for");
    const links = contentOf(`<p>${words}</p>${'<a href="/a">one link</a> '.repeat(many)}`);
    expect(links.text).toContain("what a reader looks for");
    const cells = contentOf(`<p>${words}</p><table><tr>${"<td>cell".repeat(many)}</table>`);
    expect(cells.text).toContain("what a reader looks for");
  });
});
