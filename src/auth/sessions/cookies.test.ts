import { describe, expect, test } from "bun:test";
import { cookieFor, cookieIn, forgetCookies, setCookie } from "./cookies.ts";

const asked = (url: string): URL => new URL(url);
const https = asked("https://ai.example.com/v1");
const local = asked("http://127.0.0.1:8787/v1");

describe("the name of a cookie", () => {
  test.each<[string, string, URL, object | undefined]>([
    ["a page of HTTPS", "https://ai.example.com", https, { name: "__Host-tollgate-session", isSecure: true }],
    [
      "one behind a proxy that ends TLS",
      "https://ai.example.com",
      asked("http://ai.example.com/"),
      { name: "__Host-tollgate-session", isSecure: true },
    ],
    ["one of this machine", "http://127.0.0.1:8787", local, { name: "tollgate-session-8787", isSecure: false }],
    [
      "one of this machine by its name",
      "http://localhost:9000",
      asked("http://localhost:9000/"),
      { name: "tollgate-session-9000", isSecure: false },
    ],
    ["plain HTTP", "http://ai.example.com", asked("http://ai.example.com/"), undefined],
    ["a name that looks local", "http://localhost.evil.example", asked("http://localhost.evil.example/"), undefined],
    ["a local page at another host", "http://localhost", asked("http://ai.example.com/"), undefined],
  ])("for %s", (_what, origin, url, name) => expect(cookieFor("session", origin, url)).toEqual(name as never));
});

test("no page reads it, no other site sends it, no other host sets it", () => {
  const cookie = cookieFor("session", "https://ai.example.com", https);
  expect(cookie && setCookie(cookie, { value: "v", maxAgeSeconds: 60, sameSite: "Strict" })).toBe(
    "__Host-tollgate-session=v; Path=/; Max-Age=60; HttpOnly; SameSite=Strict; Secure",
  );
});

describe("of a request", () => {
  test.each<[string, URL, string | undefined]>([
    ["__Host-tollgate-session=a", https, "a"],
    ["other=1; __Host-tollgate-session=a;x=2", https, "a"],
    // A host beside this one can set a cookie for the whole domain, but none with the prefix.
    ["tollgate-session-443=tossed", https, undefined],
    ["tollgate-session-443=tossed; __Host-tollgate-session=a", https, "a"],
    ["x__Host-tollgate-session=a", https, undefined],
    ["__host-tollgate-session=a", https, undefined],
    ["__Host-tollgate-session=a; __Host-tollgate-session=b", https, ""],
    ["__Host-tollgate-session=a; __Host-tollgate-session=a", https, ""],
    ["tollgate-session-8787=a", local, "a"],
    ["tollgate-session-9000=a", local, undefined],
    ["tollgate-session-8787=a; tollgate-session-8787=b", local, ""],
    ["tollgate-session-8787=a", asked("http://ai.example.com:8787/"), undefined],
    ["tollgate-session-8787=a", asked("https://127.0.0.1:8787/"), undefined],
    ["tollgate-session-8787=a; __Host-tollgate-session=b", local, "b"],
    ["tollgate-sign-in-8787=a", local, undefined],
    ["", https, undefined],
  ])("%p at %p", (header, url, value) =>
    expect(cookieIn(header, "session", { asked: url, publicUrl: undefined })).toBe(value as never),
  );
});

test("a cookie that any host of the domain can set is none behind a proxy that speaks HTTPS", () => {
  const place = { asked: local, publicUrl: "https://ai.example.com" };
  expect(cookieIn("tollgate-session-8787=a", "session", place)).toBeUndefined();
  expect(cookieIn("tollgate-session-8787=a; __Host-tollgate-session=b", "session", place)).toBe("b");
});

test("signing out forgets both names, where there are two", () => {
  expect(forgetCookies("session", local).map((cookie) => cookie.split(";")[0])).toEqual([
    "__Host-tollgate-session=",
    "tollgate-session-8787=",
  ]);
  expect(forgetCookies("session", https)).toHaveLength(1);
});
