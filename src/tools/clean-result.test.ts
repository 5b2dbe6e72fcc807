import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../core/index.ts";
import { cleanObject, cleanText, secretForms, secretsIn } from "./clean-result.ts";

const secret = "s3cret/with+signs";

describe("a text", () => {
  test.each([
    ["marks of direction", "a\u202Eb\u2066c\u200Fd", "abcd"],
    ["tags, with which text is hidden", "a\u{E0041}\u{E007F}b", "ab"],
    ["invisible spaces", "a\u200Bb\uFEFFc\u2060d\u00ADe", "abcde"],
    ["colours of terminals", "\u001B[31;1mred\u001B[0m", "red"],
    ["titles and links of terminals", "\u001B]0;title\u0007a\u001B]8;;http://x\u001B\\b", "ab"],
    ["an escape without an end", "a\u001B", "a"],
    ["controls", "a\u0000b\u0008c\u0085d", "abcd"],
  ])("loses %s", (_what, text, clean) => {
    expect(cleanText(text, [])).toBe(clean);
  });

  test.each(["line\n\tindented\r\n", "नमस्ते", "👨‍👩‍👧", "می‌خواهم", "é"])("keeps %j", (text) => {
    expect(cleanText(text, [])).toBe(text);
  });
});

describe("a secret", () => {
  const forms = secretForms([secret, "short"]);

  test.each([
    ["as it is", secret],
    ["in base64", Buffer.from(secret).toString("base64")],
    ["in base64url", Buffer.from(secret).toString("base64url")],
    ["in hex", Buffer.from(secret).toString("hex")],
    ["in a URL", encodeURIComponent(secret)],
    ["with hidden characters between", secret.split("").join("\u200B")],
  ])("is cut %s", (_how, form) => {
    expect(cleanText(`<${form}>`, forms)).toMatch(/^<\[secret\]=*>$/);
  });

  test("the secrets of a program are those by their names, and passwords in addresses", () => {
    const env = {
      API_KEY: "a-long-key",
      ROOT: "/srv/data/files",
      DATABASE_URL: "postgres://me:pass-word@db/x",
      Token: "t",
    };
    expect(secretsIn(env)).toEqual(["a-long-key", "postgres://me:pass-word@db/x", "pass-word", "t"]);
  });

  test("is cut from keys and nested values, and a short one is no secret", () => {
    const given = { [secret]: [{ a: secret }], n: 1, nothing: null, b: "short" };
    expect(cleanObject(given, forms)).toEqual({ "[secret]": [{ a: "[secret]" }], n: 1, nothing: null, b: "short" });
  });

  test("is not searched for in a value that would exhaust the stack", () => {
    const deep = JSON.parse(`{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`) as JsonObject;
    expect(() => cleanObject(deep, forms)).toThrow("nested too deeply");
  });

  test("leaves images as they are", () => {
    const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };
    expect(cleanObject(image, forms)).toEqual(image);
  });
});
