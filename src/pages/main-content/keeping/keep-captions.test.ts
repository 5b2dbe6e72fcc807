import { expect, test } from "bun:test";
import { parseHtml } from "../../html/parse.ts";
import { describePage } from "../main-content.ts";
import { keepCaptions } from "./keep-captions.ts";

const prose = `<p>${"The tide comes in twice a day, and twice a day it leaves the harbour to the gulls. ".repeat(6)}</p>`;
const figure = "<figure><img src=a.jpg><figcaption><p>The harbour at noon.</p></figcaption></figure>";

/** Whether the caption is kept, with the chance that the model gives to it. */
function isKept(chance: number, { html = `<main>${prose}${figure}</main>`, around = true } = {}): boolean {
  const page = describePage(parseHtml(html), "https://blog.test/a");
  const kept = page.blocks.map(({ text }) => around && !text.includes("noon"));
  const chances = page.blocks.map(({ text }) => (text.includes("noon") ? chance : 0.9));
  keepCaptions(page, kept, chances);
  return page.blocks.some(({ text, index }) => text.includes("noon") && kept[index] === true);
}

test("a likely caption in the midst of content stays, others do as they are judged", () => {
  expect([isKept(0.4), isKept(0.25), isKept(0.4, { around: false })]).toEqual([true, false, false]);
  expect(isKept(0.4, { html: `<main>${prose}<p>The harbour at noon.</p></main>` })).toBe(false);
});
