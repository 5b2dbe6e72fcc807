import { expect, test } from "bun:test";
import { shownResult, withSafeIcons } from "./icons.ts";

const png = "data:image/png;base64,iVBORw0KGgo=";

test.each([
  ["https://example.com/icon.png"],
  ["HTTPS://example.com/icon.svg"],
  [png],
  ["data:image/svg+xml,%3Csvg%3E"],
])("the icon %s is one that clients may read", (src) => {
  expect(withSafeIcons({ name: "a", icons: [{ src }] })).toEqual({ name: "a", icons: [{ src }] });
});

test.each([
  ["http://example.com/icon.png"],
  ["javascript:alert(1)"],
  ["file:///etc/passwd"],
  ["ftp://example.com/a.png"],
  ["//example.com/a.png"],
  ["icon.png"],
  [" https://example.com/icon.png"],
  ["https://127.0.0.1/icon.png"],
  ["https://0x7f.1/icon.png"],
  ["https://localhost/icon.png"],
  ["https://[::1]/icon.png"],
  ["https://169.254.169.254/latest/meta-data"],
  ["https://10.0.0.1/icon.png"],
  ["https://example.com:8443/icon.png"],
  ["https://user:secret@example.com/icon.png"],
  ["data:text/html,<script>alert(1)</script>"],
  ["data:image/png"],
  [`${png}${"A".repeat(40_000)}`],
  [5],
  [undefined],
])("the icon %s is none", (src) => {
  expect(withSafeIcons({ name: "a", icons: [{ src }, 5] })).toEqual({ name: "a" });
});

test("an icon keeps the members of the protocol, within bounds", () => {
  const icon = { src: png, mimeType: "image/png", sizes: ["48x48", "any"], theme: "dark" };
  const wrong = { src: png, mimeType: 5, sizes: ["x".repeat(100), 5], theme: "blue", onload: "alert(1)" };
  expect(withSafeIcons({ icons: [icon, wrong] })).toEqual({ icons: [icon, { src: png }] });
  expect(withSafeIcons({ icons: Array.from({ length: 20 }, () => icon) })["icons"]).toHaveLength(8);
  expect(withSafeIcons({ icons: "many" })).toEqual({});
});

test("results keep the icons of their items, and a server does not speak for the gateway", () => {
  const icons = [{ src: png }, { src: "http://a.test/x" }];
  const safe = [{ src: png }];
  const item = { uri: "a://b", name: "b" };
  for (const list of ["prompts", "resources", "resourceTemplates", "content"])
    expect(shownResult({ [list]: [{ ...item, icons }, "x"] })).toEqual({ [list]: [{ ...item, icons: safe }, "x"] });
  const link = { type: "resource_link", ...item };
  expect(shownResult({ messages: [{ role: "user", content: { ...link, icons } }] })).toEqual({
    messages: [{ role: "user", content: { ...link, icons: safe } }],
  });
  expect(shownResult({ structuredContent: { icons }, _meta: { "tollgate/unavailable": ["x"], ui: { a: 1 } } })).toEqual(
    {
      structuredContent: { icons },
      _meta: { ui: { a: 1 } },
    },
  );
});
