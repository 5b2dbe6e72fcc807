import { expect, test } from "bun:test";
import { refreshTarget } from "./refresh-target.ts";

const url = "https://old.example/a/b";

function targetOf(html: string, contentType: string | undefined = "text/html"): string | undefined {
  return refreshTarget({ bytes: Buffer.from(html), url, status: 200, contentType });
}

test.each([
  ['<meta http-equiv="refresh" content="0; url=/new">', "https://old.example/new"],
  ["<META HTTP-EQUIV=Refresh CONTENT='3;URL=https://new.example/?a=1&amp;b=2'>", "https://new.example/?a=1&b=2"],
  ['<meta http-equiv="refresh" content="0; url=/é">', "https://old.example/%C3%A9"],
  [`<meta content="0, url='c'" http-equiv="refresh">`, "https://old.example/a/c"],
])("%s is followed", (html, expected) => {
  expect(targetOf(html)).toBe(expected);
});

test.each([
  '<meta http-equiv="refresh" content="300; url=/new">',
  '<meta http-equiv="refresh" content="5">',
  '<meta http-equiv="refresh" content="0; url=/a/b#top">',
  '<meta http-equiv="refresh" content="0; url=javascript:alert(1)">',
  '<meta http-equiv="refresh" content="0; url=http://[">',
  '<noscript><meta http-equiv="refresh" content="0; url=/no-script"></noscript>',
  '<!-- <meta http-equiv="refresh" content="0; url=/comment"> -->',
  '<meta name="description" content="0; url=/new">',
])("%s is not", (html) => {
  expect(targetOf(html)).toBeUndefined();
});

test.each([
  ["0; url=/new", 9_000, "https://old.example/new"],
  ["0;URL='https://new.example/'", 10, "https://new.example/"],
  ["5, url=c", 10, "https://old.example/a/c"],
  ["5; url=/new", 9_000, undefined],
  ["00.5; url=/new", 9_000, "https://old.example/new"],
  ["05; url=/new", 9_000, undefined],
  ["300; url=/new", 10, undefined],
  ["5", 10, undefined],
  ["0; url=javascript:alert(1)", 10, undefined],
])("the header refresh: %s of a page of %i bytes", (refresh, size, expected) => {
  const target = refreshTarget({ bytes: Buffer.alloc(size, "x"), url, status: 200, contentType: "text/html", refresh });
  expect(target).toBe(expected);
});

test("pages with a text of their own, and other documents, have none", () => {
  expect(targetOf(`<meta http-equiv="refresh" content="0; url=/new">${" text".repeat(1_000)}`)).toBeUndefined();
  expect(targetOf('<meta http-equiv="refresh" content="0; url=/new">', "text/plain")).toBeUndefined();
});
