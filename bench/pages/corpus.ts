/** Pages of several sizes, made from a seed: prose, lists, tables and code between the margins that real pages have. */

export interface BenchPage {
  name: string;
  bytes: Uint8Array;
}

const words = (
  "the of and to in water harbour engine letter garden winter paper signal window morning bridge river north market copper " +
  "record table between about through every which could their first small large often never almost"
).split(" ");

/** A page of about `bytes` bytes: a third of it is its frame, as on the web. */
export function makePage(name: string, bytes: number): BenchPage {
  const random = randomFrom(bytes);
  const sentence = (): string => {
    const length = 8 + Math.floor(random() * 12);
    const text = Array.from({ length }, () => words[Math.floor(random() * words.length)] ?? "").join(" ");
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  };
  const link = (): string =>
    `<a href="/articles/${Math.floor(random() * 1e6)}?ref=list" class="link link--plain">${sentence().slice(0, 30)}</a>`;
  const menu = (items: number): string =>
    `<ul class="menu">${Array.from({ length: items }, () => `<li class="menu__item">${link()}</li>`).join("")}</ul>`;
  const head = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${sentence()}</title><meta name="description" content="${sentence()}"><meta property="og:title" content="${sentence()}"><script>${"var x=1;".repeat(bytes / 100)}</script><style>${".a{color:red}".repeat(bytes / 130)}</style></head>`;
  let body = "";
  for (let section = 0; head.length + body.length < bytes * 0.9; section += 1) {
    body += `<h2 id="s${section}">${sentence()}</h2>\n`;
    for (let index = 0; index < 4; index += 1)
      body += `<p class="text">${sentence()} ${link()} <strong>${sentence()}</strong> ${sentence()} <em>${sentence()}</em></p>\n`;
    if (section % 3 === 0)
      body += `<table><thead><tr><th>Name</th><th>Value</th></tr></thead><tbody>${`<tr><td>${sentence()}</td><td>42</td></tr>`.repeat(5)}</tbody></table>\n`;
    if (section % 3 === 1)
      body += `<pre><code class="language-js">const a = 1;\n${"call(a);\n".repeat(8)}</code></pre>\n`;
    if (section % 3 === 2)
      body += `<ul>${`<li>${sentence()}</li>`.repeat(6)}</ul><figure><img src="/i/${section}.jpg" alt="${sentence()}"><figcaption>${sentence()}</figcaption></figure>\n`;
  }
  const frame = menu(Math.max(10, Math.floor(bytes / 4_000)));
  const html = `${head}<body><header class="header"><nav>${frame}</nav></header><main><article><h1>${sentence()}</h1>${body}</article></main><footer>${frame}</footer></body></html>`;
  return { name, bytes: new TextEncoder().encode(html) };
}

/** Mulberry32. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
