import { expect, test } from "bun:test";
import { sortHeaders } from "./caller-headers.ts";

test("headers of the connection, of the message and of no known kind are left out", () => {
  const given = {
    Host: "a",
    Connection: "b",
    "Content-Length": "1",
    "Proxy-Authorization": "x",
    "bad name": "1",
    "": "1",
    "x-lines": "a\r\nb: c",
  };
  expect(sortHeaders(given)).toEqual({ userAgent: undefined, cookies: [], sent: [] });
});

test("the user agent and cookies are the browser's own matter", () => {
  const given = { "User-Agent": "u", Cookie: "a=1; b=x=y;c; =d; e=", Accept: "text/html" };
  expect(sortHeaders(given)).toEqual({
    userAgent: "u",
    cookies: [
      { name: "a", value: "1" },
      { name: "b", value: "x=y" },
      { name: "e", value: "" },
    ],
    sent: [{ name: "accept", value: "text/html" }],
  });
});
