import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { z } from "zod";
import { GatewayError, limits } from "../../core/index.ts";
import { MemoryBudget } from "../../streaming/index.ts";
import { asOpaque } from "./measure.ts";
import { type ModelOf, parseBody, withModel } from "./parse-body.ts";

const schema = z.looseObject({
  model: z.string(),
  n: z.number().int().optional(),
  messages: z.array(z.looseObject({ role: z.string() })).optional(),
});

const parse = (text: string | Uint8Array) =>
  parseBody(typeof text === "string" ? Buffer.from(text) : text, schema, ["messages"]);

function refusal(text: string | Uint8Array): GatewayError {
  try {
    parse(text);
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown;
    throw thrown;
  }
  throw new Error("was accepted");
}

describe("a body that is accepted", () => {
  const text = ` {"model": "m", "n":1.0e0,\n "unknown":{"deep":[1,2]}, "big": 12345678901234567890 } `;

  test("keeps its text, and unknown members", () => {
    const parsed = parse(text);
    expect(parsed.text).toBe(text);
    expect(parsed.body).toMatchObject({ model: "m", n: 1, unknown: { deep: [1, 2] } });
  });

  test("has its members found in the text", () => {
    const { members } = parse(text);
    expect(members.map(({ key, valueStart, valueEnd }) => [key, text.slice(valueStart, valueEnd)])).toEqual([
      ["model", `"m"`],
      ["n", "1.0e0"],
      ["unknown", `{"deep":[1,2]}`],
      ["big", "12345678901234567890"],
    ]);
  });

  test("may begin with a byte order mark and hold any character", () => {
    const parsed = parse(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(`{"model":"é🙂"}`)]));
    expect(parsed.bytes.toString()).toBe(`{"model":"é🙂"}`);
    expect(parsed.body.model).toBe("é🙂");
  });

  test.each(["é🙂", "\\u00e9🙂", "\\u00e9", "Ã©", "\\u00c3\\u00a9", "a"])(
    "reads %s as JSON does, where it is not only measured",
    (name) => {
      const body = `{"model":"${name}","deep":{"${name}":["${name}"]},"n":1}`;
      expect(parse(body).body).toEqual(schema.parse(JSON.parse(body)));
    },
  );

  const letters = fc.string({ unit: "binary" });

  test("never reports a string as smaller than it is, and is exact if all or none of its letters are escaped", () => {
    fc.assert(
      fc.property(letters, letters, fc.boolean(), (said, other, mixed) => {
        const raw = JSON.stringify(said).replace(/\\ud[89a-f]/g, "\\u0");
        const written = JSON.stringify(other);
        const escaped = written.replace(
          /[^\0-\x7f]/g,
          (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
        );
        const body = `{"model":"m","messages":[{"role":${escaped}}${mixed ? `,{"role":${raw}}` : ""}]}`;
        const { messages = [] } = parse(body).body;
        const { messages: meant = [] } = schema.parse(JSON.parse(body));
        const { sizeOf } = parse(body);
        const sizes = messages.map(({ role }) => sizeOf(asOpaque(role)));
        const exact = meant.map(({ role }) => Buffer.byteLength(role));
        if (mixed) expect(sizes.every((size, index) => size >= (exact[index] ?? 0))).toBe(true);
        else expect(sizes).toEqual(exact);
      }),
    );
  });

  test("counts the bytes of literal letters", () => {
    const { body, sizeOf } = parse(`{"model":"m","messages":[{"role":"日本語é\\n"}]}`);
    expect(sizeOf(asOpaque(body.messages?.[0]?.role ?? ""))).toBe(12);
  });

  test("may have as many values as the bound", () => {
    expect(parse(`{"model":"m","input":[${"1,".repeat(399_997)}1]}`).body["input"]).toHaveLength(399_998);
  });

  test("may nest as deep as the bound", () => {
    const levels = 127;
    expect(parse(`{"model":"m","deep":${"[".repeat(levels)}${"]".repeat(levels)}}`).body.model).toBe("m");
  });
});

const refusals: [string, string | Uint8Array, string, string | undefined][] = [
  ["nothing", "", "must be a JSON object", undefined],
  ["white space", " \n", "must be a JSON object", undefined],
  ["a list", `[{"model":"m"}]`, "must be a JSON object", undefined],
  ["a text", `"model"`, "must be a JSON object", undefined],
  ["null", "null", "must be a JSON object", undefined],
  ["half an object", `{"model":"m"`, "not valid JSON", undefined],
  ["an object and more", `{"model":"m"} x`, "not valid JSON", undefined],
  ["a comma too many", `{"model":"m",}`, "not valid JSON", undefined],
  ["single quotes", `{'model':'m'}`, "not valid JSON", undefined],
  ["bytes that are no text", new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), "not valid UTF-8", undefined],
  ["a character cut in half", new Uint8Array([0x7b, 0x22, 0xc3, 0x22, 0x7d]), "not valid UTF-8", undefined],
  ["one level too deep", `{"deep":${"[".repeat(128)}${"]".repeat(128)}}`, "128 levels", undefined],
  ["100,000 open brackets", `{"deep":${"[".repeat(100_000)}`, "128 levels", undefined],
  [
    "more own keys than the bound",
    `{${Array.from({ length: 1_025 }, (_, index) => `"k${index}":1`).join()}}`,
    "1024 keys",
    undefined,
  ],
  ["more values than the bound", `{"model":"m","input":[${"1,".repeat(399_998)}1]}`, "400000 values", undefined],
  ["more keys than the bound", `{"model":"m","input":[${'{"a":1},'.repeat(65_536)}{"a":1}]}`, "65536 keys", undefined],
  ["a number of megabytes", `{"model":"m","n":${"1".repeat(16 * 1024 * 1024 + 1)}}`, "16777216 bytes", undefined],
  ["a key twice", `{"model":"cheap","model":"dear"}`, `"model" twice`, "model"],
  ["a key twice, once in disguise", `{"model":"cheap","mod\\u0065l":"dear"}`, `"model" twice`, "model"],
  [
    "the model in another case",
    `{"model":"cheap","Model":"expensive"}`,
    `"Model" differs only in case from "model"`,
    "Model",
  ],
  ["no model", `{}`, "model: ", "model"],
  ["a model of the wrong type", `{"model":5}`, "model: ", "model"],
  [
    "a wrong type deep inside",
    `{"model":"m","messages":[{"role":"user"},{"role":7}]}`,
    "messages.1.role: ",
    "messages.1.role",
  ],
];

test.each(refusals)("%s is refused with 422", (_title, text, message, param) => {
  const error = refusal(text);
  expect(error).toMatchObject({ code: "validation_failed", status: 422 });
  expect(error.message).toContain(message);
  expect(error.param).toBe(param);
});

test("keys with capital letters pass if they resemble no other", () => {
  expect(parse(`{"model":"m","topK":1,"enableThinking":true}`).body).toMatchObject({ topK: 1 });
});

test("a refusal repeats only a little of the body", () => {
  const key = "k".repeat(100_000);
  const error = refusal(`{"${key}":1,"${key}":2}`);
  expect(error.message.length).toBeLessThan(200);
  expect(error.param?.length).toBe(80);
});

describe("the model that an address means", () => {
  const memory = new MemoryBudget(10_000_000);
  const share = () => memory.share();
  const changed = (text: string, modelOf: ModelOf): string =>
    Buffer.from(withModel(Buffer.from(text), modelOf, share())).toString();

  test("stands in the body, whatever it had", () => {
    const id = () => "openai/a";
    expect(changed(`{"model":"b","input":"c"}`, id)).toBe(`{"model":"openai/a","input":"c"}`);
    expect(changed(`{"input":"c"}`, id)).toBe(`{"input":"c","model":"openai/a"}`);
    expect(changed(`{"model":"b"`, id)).toBe(`{"model":"b"`);
  });

  test("depends on the body's, unless that is too long for one", () => {
    const seen: (string | undefined)[] = [];
    const modelOf: ModelOf = (model) => void seen.push(model);
    const longest = "\\u0061".repeat(limits.modelIdCharactersMax);
    for (const model of [`"b"`, `"${longest}"`, `"${longest}a"`, "1", `["b"]`]) changed(`{"model":${model}}`, modelOf);
    expect(seen).toEqual(["b", "a".repeat(limits.modelIdCharactersMax), undefined, undefined, undefined]);
  });

  test("makes a copy, which takes memory", () => {
    const body = Buffer.from(`{"model":"b","input":"${"c".repeat(6_000_000)}"}`);
    const taken = share();
    const edited = withModel(body, () => "a", taken);
    expect([edited.length, memory.used]).toEqual([body.length, body.length]);
    expect(() => withModel(body, () => "a", taken)).toThrow("Too many large bodies");
    expect(withModel(body, () => undefined, taken)).toBe(body);
    taken.free();
  });
});
