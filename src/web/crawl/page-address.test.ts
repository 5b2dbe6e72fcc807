import { expect, test } from "bun:test";
import { pageAddress, pageKey } from "./page-address.ts";

test.each([
  ["http://a.test/x#part", "http://a.test/x"],
  ["http://a.test/x#", "http://a.test/x"],
  ["http://a.test/x;jsessionid=1a2b?q=1", "http://a.test/x?q=1"],
  ["http://a.test/x;v=2", "http://a.test/x;v=2"],
  ["http://a.test/x?utm_source=s&q=1&UTM_MEDIUM=m&fbclid=f", "http://a.test/x?q=1"],
  ["http://a.test/x?PHPSESSID&sid=0123456789abcdef0123", "http://a.test/x"],
  ["http://a.test/x?sid=24/01/31&session_id=7", "http://a.test/x?sid=24/01/31&session_id=7"],
  ["http://a.test/x?side=1&q=sid", "http://a.test/x?side=1&q=sid"],
  ["http://a.test/x?q=a%20b+c", "http://a.test/x?q=a%20b+c"],
  ["http://user:pass@a.test/", undefined],
  ["mailto:a@a.test", undefined],
  ["no address", undefined],
])("%s is requested as %s", (text, expected) => {
  expect(pageAddress(text)?.href).toBe(expected);
});

const keyOf = (text: string, ignoresQuery = false): string => pageKey(new URL(text), { ignoresQuery });

test.each([
  "https://a.test/x?b=2&a=1",
  "http://www.a.test/x?b=2&a=1",
  "http://a.test/x/?b=2&a=1",
  "http://a.test/x/index.html?b=2&a=1",
  "http://a.test/x?a=1&b=2",
])("%s is the same page as others", (text) => {
  expect(keyOf(text)).toBe(keyOf("http://a.test/x?b=2&a=1"));
});

test.each([
  ["x?q=x+y", "x?q=x%20y"],
  ["x?a", "x?a="],
  ["x?a=1", "x?a=1&"],
  ["x?title=Talk:X&b=%41", "x?b=A&title=Talk%3AX"],
  ["x?b=1&a=x%20y", "x?a=x+y&b=1"],
])("%s is the same page as %s", (one, other) => {
  expect(keyOf(`http://a.test/${one}`)).toBe(keyOf(`http://a.test/${other}`));
});

test("escapes are compared in either case, in the path and in the query", () => {
  expect(keyOf("http://a.test/%c3%bc?q=%c3%bc")).toBe(keyOf("http://a.test/%C3%BC?q=%C3%BC"));
});

test.each(["http://a.test/y?b=2&a=1", "http://b.test/x?b=2&a=1", "http://a.test/x?b=2&a=3", "http://a.test/X?b=2&a=1"])(
  "%s is another page",
  (text) => {
    expect(keyOf(text)).not.toBe(keyOf("http://a.test/x?b=2&a=1"));
  },
);

test("the query makes no difference if it is ignored", () => {
  expect(keyOf("http://a.test/x?a=1", true)).toBe(keyOf("http://a.test/x", true));
});
