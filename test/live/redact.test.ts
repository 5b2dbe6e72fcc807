import { describe, expect, test } from "bun:test";
import { createRedactor } from "./redact.ts";

const key = "my key/with+signs";
const redact = createRedactor([key, "none"]);

describe("what is recorded loses", () => {
  test.each<[string, string]>([
    [`{"error":"Incorrect API key: ${key}"}`, '{"error":"Incorrect API key: removed"}'],
    [`?key=${encodeURIComponent(key)}&x=1`, "?key=removed&x=1"],
    [Buffer.from(key).toString("base64"), "removed="],
    ["sk-proj-abcdefghijklmnopqrstuvwxyz", "sk-removed"],
    ["tg_abcdefghijkl_ABCDEFGHIJKLMNOPQRSTUVWXYZ", "tg_removed"],
    ["AIzaSyA1234567890abcdefghij", "AIza-removed"],
    ["Bearer abc.def-ghi_jkl==", "Bearer removed"],
    ['{"organization":"org-AbCdEfGhIjKlMnOp","id":"resp_1"}', '{"organization":"removed","id":"resp_1"}'],
    [String.raw`"{\"api_key\": \"hidden\"}"`, String.raw`"{\"api_key\": \"removed\"}"`],
    [
      "https://x.example/a.png?X-Tos-Signature=abc&X-Tos-Expires=9",
      "https://x.example/a.png?X-Tos-Signature=removed&X-Tos-Expires=9",
    ],
    ["mail jane.doe@corp.example.org now", "mail somebody@example.com now"],
  ])("%p", (text, cleaned) => {
    expect(redact(text)).toBe(cleaned);
  });

  test("nothing else", () => {
    const text = '{"id":"msg_01AbCdEfGhIjKlMnOpQrStUv","usage":{"total_tokens":7},"text":"none of it is a secret"}';
    expect(redact(text)).toBe(text);
  });
});
