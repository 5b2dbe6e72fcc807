import { describe, expect, test } from "bun:test";
import { bytesOf, pageRequest } from "../__fixtures__/request.ts";
import type { PageDoubt } from "../page.ts";
import { takeApart } from "../take-apart.ts";

const article = "<p>Sentences of some length, with commas, are what a reader looks for.</p>".repeat(30);

const pages: readonly (readonly [name: string, html: string, doubt: PageDoubt | undefined])[] = [
  ["an article", article, undefined],
  ["nothing", "<title>x</title><div></div>", "empty"],
  ["pictures without texts", "<img src=a.png><img src=b.png>", "empty"],
  ["a picture with a text", '<img src=a.png alt="A ship">', undefined],
  ["Cloudflare's check", "<title>Just a moment...</title><p>Enable JavaScript and cookies to continue", "challenge"],
  ["a check in German", "<title>Nur einen Moment…</title><p>Ihre Verbindung wird geprüft", "challenge"],
  [
    "a check by its script",
    '<title>shop.test</title><p>x<script src="/cdn-cgi/challenge-platform/h/b.js"></script>',
    "challenge",
  ],
  ["an article with such a script", `${article}<script src="/cdn-cgi/challenge-platform/h/b.js"></script>`, undefined],
  ["an article about it", `<title>Just a moment of peace</title>${article}`, undefined],
  ["a form with a box against robots", '<p>Sign in<div class="g-recaptcha"></div>', undefined],
  ["a page that loads", "<div id=x>Loading…</div>", "unfilled"],
  ["a page that loads, in Japanese", "<p>読み込み中です", "unfilled"],
  ["an article that begins so", `<p>Loading a ship takes long.${article}`, undefined],
  ["a template", "<h1>{{ title }}</h1><p>{{ item.price }} for {{ item.name }}", "unfilled"],
  [
    "code of a template",
    "<p>Write <code>{{ a }}</code>, <code>{{ b }}</code><pre>{{ c }} {{ d }} {{ e }}</pre>",
    undefined,
  ],
];

describe("a page that may not be what was asked for", () => {
  for (const [name, html, doubt] of pages)
    test(name, async () => expect((await takeApart(bytesOf(html), pageRequest())).doubt).toBe(doubt));

  test("is looked at only if its text was asked for", async () => {
    expect((await takeApart(bytesOf(""), pageRequest({ wants: { links: true } }))).doubt).toBeUndefined();
  });
});
