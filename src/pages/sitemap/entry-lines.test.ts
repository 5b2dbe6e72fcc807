import { expect, test } from "bun:test";
import { decodeEntries, encodeEntries } from "./entry-lines.ts";

test("entries cross as lines, as often as they are looped over", () => {
  const entries = [
    { url: "https://site.test/a?b=%20" },
    { url: "https://site.test/b", title: "Äpfel 🍏 & more" },
    { url: "https://site.test/c", title: "" },
  ];
  const decoded = decodeEntries(encodeEntries(entries));
  expect([...decoded]).toEqual(entries);
  expect([...decoded]).toEqual(entries);
  expect([...decodeEntries(encodeEntries([]))]).toEqual([]);
});

test("white space of a title, which would end it, is one space", () => {
  const [entry] = decodeEntries(encodeEntries([{ url: "https://site.test/", title: "a\tb\r\nc\u2028d" }]));
  expect(entry).toEqual({ url: "https://site.test/", title: "a b c d" });
});
