import { expect, test } from "bun:test";
import { matchesTemplate } from "./match-template.ts";

test.each([
  ["file:///{path}", "file:///a/b.txt", true],
  ["file:///{path}", "http://a", false],
  ["db://{table}/rows/{id}", "db://users/rows/7", true],
  ["db://{table}/rows/{id}", "db://users/7", false],
  ["db://{table}/{id}.json", "db://users/7.json", true],
  ["db://{table}/{id}.json", "db://users/7.xml", false],
  ["a{x}a", "a", false],
  ["plain", "plain", false],
  ["{+any}", "anything at all", true],
])("%s and %s: %p", (template, address, expected) => {
  expect(matchesTemplate(template, address)).toBe(expected);
});
