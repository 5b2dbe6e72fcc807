import type { PageType } from "../index.ts";

interface PageOfKind {
  readonly type: PageType;
  readonly url: string;
  readonly html: string;
  readonly inside: readonly string[];
  readonly outside: readonly string[];
}

const menu = `<header class="site-header"><a class="logo" href="/">Acme</a><nav class="main-nav"><ul>${[
  "Home",
  "Products",
  "Pricing",
  "Support",
  "Contact",
]
  .map((name) => `<li><a href="/${name.toLowerCase()}">${name}</a></li>`)
  .join("")}</ul></nav><form class="search"><input name="q"><button>Search</button></form></header>`;
const footer = `<footer class="site-footer"><ul><li><a href="/privacy">Privacy Policy</a></li><li><a href="/terms">Terms of Service</a></li></ul>
<form class="newsletter"><label>Subscribe to our newsletter</label><input><button>Subscribe</button></form><p>© 2026 Acme Inc. All rights reserved.</p></footer>`;
const frame = ["Privacy Policy", "Subscribe to our newsletter", "All rights reserved", "Support"];

function page(title: string, body: string, head = ""): string {
  return `<!doctype html><html><head><title>${title}</title>${head}</head><body>${menu}${body}${footer}</body></html>`;
}

const sentences = [
  "Most of what a cache holds is read once and never again, which is why its size means so little.",
  "The pages that are read a second time are read within minutes, and after an hour the curve is flat.",
  "We kept every key for a month, counted each read, and looked at how old the entry was at that time.",
  "Nobody expected that the oldest tenth of the entries, by far the largest share of the memory, would serve so few reads.",
  "When we halved the memory, the hit rate fell by less than one part in a hundred, and the bill fell with it.",
];
const paragraphs = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, at) => `<p>${sentences[(from + at) % 5]} ${sentences[(from + at + 2) % 5]}</p>`).join("\n");

export const richArticle = page(
  "How caches age",
  `<main><article><h1>How caches age</h1><p class="byline">By Ada Example, 3 March 2026</p>${paragraphs(0, 3)}
<pre><code class="language-ts">const age = now - stored;

if (age &gt; maxAge) evict(key);</code></pre>${paragraphs(3, 5)}
<table><thead><tr><th>Policy</th><th>Time</th></tr></thead><tbody><tr><td>LRU</td><td>12 ms</td></tr><tr><td>FIFO</td><td>9 ms</td></tr></tbody></table>
<figure><img src="/chart.png" alt="Hit rate by age"><figcaption>The hit rate, by the age of the entry in minutes.</figcaption></figure>
<p>The rate follows <math><mi>e</mi><mo>-</mo><mi>t</mi></math>, and so <script type="math/tex">h = 1 - m</script> holds for every size<sup><a href="#fn1">1</a></sup>. ${sentences[1]}</p>
${paragraphs(5, 8)}<section class="footnotes"><ol><li id="fn1">The figures were measured over thirty days in one region, and leave out health checks.</li></ol></section></article></main>
<aside class="sidebar"><h3>Related posts</h3><ul><li><a href="/a">Why queues grow</a></li><li><a href="/b">Locks, and how to lose them</a></li></ul></aside>`,
  '<meta property="og:type" content="article">',
);

const posts = Array.from(
  { length: 6 },
  (_, at) => `<div class="post" id="post-${at}"><div class="post-author"><a href="/u/${at}">member${at}</a><span class="joined">Joined: Mar 2019</span></div>
<div class="post-body"><p>${sentences[at % 5]} ${sentences[(at + 1) % 5]}</p><p>${sentences[(at + 3) % 5]}</p></div><div class="post-actions"><a href="#">Reply</a> <a href="#">Quote</a> <a href="#">Report</a></div></div>`,
).join("\n");

export const kinds: readonly PageOfKind[] = [
  {
    type: "article",
    url: "https://blog.example.com/2026/03/how-caches-age",
    html: richArticle,
    inside: sentences,
    outside: [...frame, "Why queues grow"],
  },
  {
    type: "forum",
    url: "https://forum.example.com/threads/cache-size.1234/",
    html: page("Cache size? | Acme Forum", `<div class="thread"><h1>Cache size?</h1>${posts}</div>`, '<meta name="generator" content="phpBB">'),
    inside: sentences,
    outside: frame,
  },
  {
    type: "product",
    url: "https://shop.example.com/products/cast-iron-pan",
    html: page(
      "Cast iron pan – Acme Shop",
      `<main><div class="product"><h1 class="product-title">Cast iron pan</h1><span class="price">$39.00</span><button>Add to cart</button>
<div class="product-description"><p>This pan is cast in one piece, seasoned twice with flax oil, and ready for a stove, an oven or a fire.</p><p>It holds its heat, and with a little care it outlives its owner; the handle stays cool for about ten minutes.</p>
<ul><li>Diameter: 26 cm, weight: 2.4 kg</li><li>Material: cast iron, seasoned with flax oil</li><li>Made in Sweden</li></ul></div></div></main>
<section class="related-products"><h2>You may also like</h2><ul><li><a href="/p/2">Steel pan</a> <span>$29.00</span></li><li><a href="/p/3">Wooden spoon</a> <span>$9.00</span></li></ul></section>`,
      '<meta property="og:type" content="product"><script type="application/ld+json">{"@type":"Product","name":"Cast iron pan","offers":{"@type":"Offer","price":"39.00"}}</script>',
    ),
    inside: ["cast in one piece", "outlives its owner", "Made in Sweden"],
    outside: ["Privacy Policy", "Subscribe to our newsletter", "All rights reserved"],
  },
  {
    type: "documentation",
    url: "https://docs.example.com/reference/cache.html",
    html: page(
      "Cache — Acme 2.1 documentation",
      `<div class="sidebar"><ul>${Array.from({ length: 20 }, (_, at) => `<li><a href="c${at}.html">Chapter ${at}</a></li>`).join("")}</ul></div>
<main role="main"><h1>Cache</h1>${paragraphs(0, 2)}<h2>Cache.get(key)</h2><p>Returns the value that is stored under the key, or undefined if there is none or it is too old.</p><pre><code>const value = cache.get("a");</code></pre>
<h2>Cache.set(key, value)</h2><p>Stores a value under the key, and removes the oldest value if the cache is full. ${sentences[0]}</p><pre><code>cache.set("a", 1);</code></pre><h2>Options</h2><dl><dt>size</dt><dd>The number of entries that the cache may hold, 1000 unless set.</dd></dl></main>`,
      '<meta name="generator" content="Sphinx 7">',
    ),
    inside: ["Returns the value that is stored", 'cache.set("a", 1);', "1000 unless set"],
    outside: ["Privacy Policy", "Chapter 7"],
  },
];
