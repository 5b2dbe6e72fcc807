import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { priceKeys } from "../core/index.ts";
import { configJsonSchema } from "./json-schema.ts";
import { checkConfig } from "./load.ts";

const stored: unknown = JSON.parse(readFileSync(new URL("../../tollgate.schema.json", import.meta.url), "utf8"));

const provider = { kind: "openai", base_url: "https://api.openai.com/v1" };
const of = (more: object): object => ({ providers: { openai: provider }, ...more });
const priced = (price: object): object => of({ pricing: { models: { "openai/x": price } } });

const good: Record<string, object> = {
  nothing: {},
  "the least": of({}),
  "empty sections": of({ server: {}, upstream: {}, log: {}, web: {}, pricing: {} }),
  "a server": of({
    server: { host: "::", port: 0, body_limit: "64KiB", body_timeout: 5000, public_url: "https://x.test" },
  }),
  "a plain number of bytes": of({ server: { body_limit: 1024 } }),
  "a capital prefix": { providers: { "Provider_A.b-1": provider } },
  "a provider with everything": {
    providers: {
      p: { ...provider, kind: "openai-compatible", api_key: "", api_keys: ["a"], aliases: ["A1"], preset: "groq" },
    },
  },
  "an engine by name": of({ web: { engine: "native" } }),
  "an engine with an address": of({ web: { engine: { kind: "native", base_url: "https://x.test" } } }),
  "a price": priced({ input_mtok: 0, output_mtok: 1e9, context_window: 1 }),
  "a price by the image": priced({ image: 0.04, input_image: "0.01" }),
  "prices by variant of image": priced({ image: { "1024x1024/hd": 0.08, low: "0.01" } }),
  "prices of audio": priced({ input_mchars: 15, input_audio_hours: 0.36, output_audio_mtok: 12 }),
  "a price under every key": priced(Object.fromEntries(priceKeys.map((key) => [key, 1]))),
  "numbers in quotes": of({ server: { port: "8787", body_limit: "1024" }, pricing: { markup: "1.5" } }),
  dialects: { providers: { p: { ...provider, dialects: ["messages", "responses"] } } },
  "markups by model": of({ pricing: { markups: { "openai/*": 1.2, "*": "1.1" } } }),
  "a markup": of({ pricing: { markup: 0.000001, unpriced: "free" } }),
};

const bad: Record<string, unknown> = {
  "no object": [],
  "an unknown key": of({ sever: {} }),
  "an unknown key of the server": of({ server: { prot: 1 } }),
  "an unknown key of a provider": { providers: { p: { ...provider, key: "x" } } },
  "an unknown price": priced({ input: 1 }),
  "a provider without a kind": { providers: { p: { base_url: "https://x.test" } } },
  "a provider without an address": { providers: { p: { kind: "openai" } } },
  "an unknown kind": { providers: { p: { ...provider, kind: "gemini" } } },
  "an unknown preset": { providers: { p: { ...provider, preset: "claude" } } },
  "a prefix with a slash": { providers: { "a/b": provider } },
  "an alias with a slash": { providers: { p: { ...provider, aliases: ["a/b"] } } },
  "a preset of another kind": { providers: { p: { ...provider, preset: "groq" } } },
  "no dialects": { providers: { p: { ...provider, dialects: [] } } },
  "a dialect twice": { providers: { p: { ...provider, dialects: ["chat", "chat"] } } },
  "an unknown dialect": { providers: { p: { ...provider, dialects: ["completions"] } } },
  "a port that is a text": of({ server: { port: "http" } }),
  "a port that is empty": of({ server: { port: "" } }),
  "a negative number in quotes": of({ upstream: { retries: "-1" } }),
  "a port out of range": of({ server: { port: 65_536 } }),
  "a port with a fraction": of({ server: { port: 1.5 } }),
  "a size of an unknown unit": of({ server: { body_limit: "32MB" } }),
  "a size of nothing": of({ server: { body_limit: 0 } }),
  "a duration of nothing": of({ upstream: { idle_timeout: "0s" } }),
  "too many retries": of({ upstream: { retries: 11 } }),
  "a level that is none": of({ log: { level: "loud" } }),
  "a negative price": priced({ input_mtok: -1 }),
  "a negative price of an image": priced({ image: { hd: -1 } }),
  "prices by variant of what has none": priced({ input_image: { hd: 1 } }),
  "prices of no image": priced({ image: {} }),
  "a price of an image without a name": priced({ image: { "": 1 } }),
  "a price beyond all": priced({ input_mtok: 1e10 }),
  "no markup": of({ pricing: { markup: 0 } }),
  "a markup of nothing by model": of({ pricing: { markups: { "openai/*": 0 } } }),
  "a model that is priced by a number": of({ pricing: { models: { x: 1 } } }),
  "an engine that is none": of({ web: { engine: "chrome" } }),
  "a list of hosts that is a text": of({ web: { allow_private_hosts: "10.0.0.1" } }),
  "an empty storage": of({ storage: "" }),
};

const accepts = (sample: unknown): boolean => {
  try {
    checkConfig(sample);
    return true;
  } catch {
    return false;
  }
};

describe("the JSON Schema for editors", () => {
  // Editors show formats as hints; the loader checks addresses itself.
  const validate = new Ajv2020({ validateFormats: false }).compile(stored as object);

  test("is up to date in the repository", () => {
    expect(stored).toEqual(configJsonSchema() as never);
  });

  test.each(Object.entries(good))("accepts %s, as the loader does", (_, sample) => {
    expect({ schema: validate(sample), start: accepts(sample), errors: validate.errors }).toEqual({
      schema: true,
      start: true,
      errors: null,
    });
  });

  test.each(Object.entries(bad))("refuses %s, as the loader does", (_, sample) => {
    expect({ schema: validate(sample), start: accepts(sample) }).toEqual({ schema: false, start: false });
  });

  test.each([
    of({ server: { port: "${PORT:-8797}", body_limit: "${LIMIT}" } }),
    of({ upstream: { retries: "${RETRIES}", idle_timeout: "${SECONDS}s" } }),
    priced({ input_mtok: "${PRICE}", context_window: "${WINDOW}" }),
    of({ pricing: { markup: "${MARKUP}" } }),
  ])("accepts a variable for a number: %j", (sample) => {
    expect({ schema: validate(sample), errors: validate.errors }).toEqual({ schema: true, errors: null });
  });
});
