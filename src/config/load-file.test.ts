import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "./load.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-config-file-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(text: string, name = "tollgate.yaml"): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

describe("the file", () => {
  test("is given by the option, else by the variable", () => {
    const chosen = fileOf("providers: { chosen: { kind: openai, base_url: http://u.test } }", "chosen.yaml");
    const other = fileOf("providers: { other: { kind: openai, base_url: http://u.test } }", "other.yaml");
    const prefixes = (file: string | undefined) =>
      Object.keys(loadConfig({ file, variables: { TOLLGATE_CONFIG: other } }).config.providers);
    expect(prefixes(chosen)).toEqual(["chosen"]);
    expect(prefixes(undefined)).toEqual(["other"]);
  });

  test("stops the startup if it does not exist", () => {
    expect(() => loadConfig({ file: join(folder, "nowhere.yaml"), variables: {} })).toThrow(
      "config: cannot read the file",
    );
    expect(() => loadConfig({ variables: { TOLLGATE_CONFIG: folder } })).toThrow("config: cannot read the file");
  });

  test("is the default one if the variable is empty", () => {
    const { file } = loadConfig({ variables: { TOLLGATE_CONFIG: "" } });
    // A developer may have one in the working folder.
    expect([undefined, "tollgate.yaml"]).toContain(file);
  });
});

test.each([
  ["crawl", "providers: { crawl: { kind: openai, base_url: http://u.test, api_key: k } }"],
  ["batch", "providers: { up: { kind: openai, base_url: http://u.test, api_key: k, aliases: [batch] } }"],
])("%s is a path of its own, and no prefix", (name, text) => {
  expect(() => loadConfig({ file: fileOf(text), variables: {} })).toThrow(`/v1/${name} is a path of its own`);
});

describe("aliases of models", () => {
  const load = (aliases: string) => {
    const providers = "providers: { up: { kind: openai, base_url: http://u.test, api_key: k, aliases: [other] } }";
    return loadConfig({ file: fileOf(`${providers}\nmodels: { aliases: ${aliases} }`), variables: {} }).config.models;
  };

  test("are read, in their order", () => {
    const aliases = { fast: "up/gpt-5-mini", "gpt-*": "other/gpt-*" };
    expect(Object.entries(load(JSON.stringify(aliases)).aliases ?? {})).toEqual(Object.entries(aliases));
  });

  test.each([
    ['{ "a": "nobody/m" }', "models.aliases.a: no provider has the prefix nobody"],
    ['{ "a": "m" }', "a model id with its prefix"],
    ['{ "a": "up/*" }', "up/* has a *, but the name has none"],
    ['{ "*a*": "up/m" }', "models.aliases.*a*"],
  ])("%s are refused", (aliases, message) => {
    expect(() => load(aliases)).toThrow(message);
  });
});
