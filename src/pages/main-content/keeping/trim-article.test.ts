import { expect, test } from "bun:test";
import { parseHtml } from "../../html/parse.ts";
import { describePage } from "../main-content.ts";
import { trimArticle } from "./trim-article.ts";

const prose =
  "<p>The mayor opened the bridge on Monday, before a crowd that had waited for an hour in the rain, and thanked all.</p>";

/** What is left of a page of which all is kept but the texts that contain a word. */
function trimmed(html: string, dropped = "DROPPED"): string[] {
  const page = describePage(parseHtml(html), "https://news.test/a");
  const kept = page.blocks.map(({ text }) => !text.includes(dropped));
  trimArticle(page, kept);
  return page.blocks.filter(({ index }) => kept[index] === true).map(({ text }) => text.trim().slice(0, 20));
}

test("lines of an article that are a link alone go, and links in its sentences stay", () => {
  const html = `<h1>Bridge</h1>${prose}<p><a href=/x>Another story</a></p><ul><li><a href=/y>And one more</a></ul><p>He is <a href=/z>a friend</a>.`;
  expect(trimmed(html)).toEqual(["Bridge", "The mayor opened the", "He is a friend."]);
});

test("headings and leads go with their text, in any language", () => {
  const more =
    "<h2>Mehr zum Thema</h2><h3>関連</h3><p>DROPPED</p><h2>Part</h2><p>Its text.</p><p>Lire aussi :</p><p>DROPPED</p>";
  expect(trimmed(`<h1>Bridge</h1>${prose}${more}<p>He said:</p><p>Yes.</p><h3>Share</h3>`)).toEqual([
    "Bridge",
    "The mayor opened the",
    "Part",
    "Its text.",
    "He said:",
    "Yes.",
  ]);
});

test("a page of links that is taken for an article keeps them", () => {
  const links = Array.from(
    { length: 9 },
    (_, at) => `<li><a href=/${at}>Story number ${at} of the day in the city</a>`,
  );
  expect(trimmed(`<h1>News</h1>${prose}<ul>${links.join("")}</ul>`)).toHaveLength(11);
});

const teaser = (number: number): string =>
  `<div class=card><a href=/${number}><h4>Another story ${number} of the city</h4></a><p>It is about something else, cut off after some words of it, in the midst…</p></div>`;
const teasers = [1, 2, 3].map(teaser).join("");

test("teasers behind an article go with their heading, and a row of things within it stays", () => {
  const html = `<h1>Bridge</h1>${prose}${prose}<section><h3>More from the city</h3>${teasers}</section>`;
  expect(trimmed(html)).toEqual(["Bridge", "The mayor opened the", "The mayor opened the"]);
  expect(trimmed(`<h1>Bridge</h1>${prose}<div>${teasers}</div>${prose}`)).toContain("It is about somethin");
});

test("a short part far behind an article goes, unless it is among its paragraphs", () => {
  const menu = `<div><p>DROPPED ${"and a word ".repeat(20)}</p></div>`;
  const end = "<p>Sign the petition for the bridge of the city.</p>";
  const long = prose.repeat(6);
  expect(trimmed(`<h1>Bridge</h1><div>${long}</div>${menu}<div>${end}</div>`)).not.toContain("Sign the petition fo");
  expect(trimmed(`<h1>Bridge</h1><div>${long}${menu}${end}</div>`)).toContain("Sign the petition fo");
});
