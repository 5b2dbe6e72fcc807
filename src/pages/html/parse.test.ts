import { describe, expect, test } from "bun:test";
import { type AnyNode, type Document, hasChildren } from "domhandler";
import { render } from "dom-serializer";
import { findOne, getElementsByTagName, textContent } from "domutils";
import { parseHtml, treeLevelsMax } from "./parse.ts";

function levelsOf(document: Document): number {
  let levels = 0;
  for (let level: AnyNode[] = [document]; level.length > 0; levels += 1) {
    level = level.flatMap((node) => (hasChildren(node) ? node.children : []));
  }
  return levels;
}

function bodyOf(text: string): string {
  const body = findOne(({ name }) => name === "body", parseHtml(text).children);
  return render(body?.children ?? []);
}

describe("broken markup is read like a browser reads it", () => {
  const cases: readonly [name: string, text: string, body: string][] = [
    ["an unclosed paragraph", "<p>one<p>two", "<p>one</p><p>two</p>"],
    ["misnested formatting", "<b>a<i>b</b>c</i>", "<b>a<i>b</i></b><i>c</i>"],
    ["text in a table", "<table>lost<tr><td>cell", "lost<table><tbody><tr><td>cell</td></tr></tbody></table>"],
    ["a list without ends", "<ul><li>a<li>b</ul>", "<ul><li>a</li><li>b</li></ul>"],
    ["no markup", "plain", "plain"],
    ["nothing", "", ""],
  ];
  for (const [name, text, body] of cases) test(name, () => expect(bodyOf(text)).toBe(body));
});

describe("depth is bounded, and no text is lost or moved", () => {
  const hostile: readonly [name: string, text: string][] = [
    ["100,000 open elements", `${"<div>".repeat(100_000)}end`],
    ["text on every level", Array.from({ length: 3_000 }, (_, index) => `<div>${index},`).join("")],
    ["text after every level", "<div>".repeat(2_000) + Array.from({ length: 2_000 }, (_, i) => `</div>${i}`).join("")],
    ["100,000 open formatting elements", `${"<b>".repeat(100_000)}end`],
    ["tables in tables", `${"<table><tr><td>".repeat(2_000)}end`],
    ["foreign elements", `${"<svg><g>".repeat(2_000)}end`],
    ["templates in templates", `${"<template>".repeat(1_000)}end`],
  ];
  for (const [name, text] of hostile) {
    test(name, () => {
      const document = parseHtml(text);
      expect(levelsOf(document)).toBeLessThanOrEqual(treeLevelsMax + 3);
      expect(textContent(document)).toBe(text.replaceAll(/<[^>]*>/g, ""));
    });
  }

  test("neighbours and parents are consistent", () => {
    const document = parseHtml(`${"<div>a".repeat(1_000)}<p>one<em>two</em>three</p>`);
    for (const element of getElementsByTagName("*", document, true)) {
      for (const [index, child] of element.children.entries()) {
        expect(child.parent).toBe(element);
        expect(child.prev).toBe(element.children[index - 1] ?? null);
        expect(child.next).toBe(element.children[index + 1] ?? null);
      }
    }
  });
});

test("a page whose formatting multiplies is refused", () => {
  const formatting = Array.from({ length: 2_000 }, (_, index) => `<b id=${index}>`).join("");
  expect(() => parseHtml(`<p>${formatting}${"<p>x".repeat(2_000)}`)).toThrow("the page has more than");
});
