import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "./load.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-config-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function load(text: string, variables: Record<string, string>) {
  const file = join(folder, "tollgate.yaml");
  writeFileSync(file, text);
  return loadConfig({ file, variables });
}

describe("a file without providers", () => {
  const prefixes = ["openai", "google", "xai", "deepseek", "anthropic", "mistral", "byteplus"];

  test.each(["", "# nothing\n", "server: { port: 1 }", "server:\n", "providers:\n"])(
    "has the default ones: %j",
    (text) => {
      const { config, missingKeys } = load(text, { XAI_API_KEY: "xk" });
      expect(Object.keys(config.providers)).toEqual(prefixes);
      expect(config.providers["xai"]?.api_key).toBe("xk");
      expect([...missingKeys.keys()]).toEqual(prefixes.filter((prefix) => prefix !== "xai"));
      expect(missingKeys.get("google")).toBe("GEMINI_API_KEY");
    },
  );

  test("has none if the list is explicitly empty", () => {
    expect(load("providers: {}", {}).config.providers).toEqual({});
  });
});
