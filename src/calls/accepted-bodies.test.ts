/** Bodies accepted without zod must be bodies that zod accepts unchanged: the fast path must not weaken validation. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { z } from "zod";
import { matchesWithoutCopy } from "../bodies/index.ts";
import { chatRequest, countTokensRequest, messagesRequest, responsesRequest } from "../dialects/index.ts";
import { embeddingsRequest, imageEditRequest, imageGenerationRequest, speechRequest } from "../media/index.ts";

const requests: Readonly<Record<string, z.ZodType>> = {
  chat: chatRequest,
  messages: messagesRequest,
  "count tokens": countTokensRequest,
  responses: responsesRequest,
  embeddings: embeddingsRequest,
  "image generation": imageGenerationRequest,
  "image edit": imageEditRequest,
  speech: speechRequest,
};

/** Values that no schema expects, or that a body should not contain. Functions and the like do not occur in JSON. */
const odd = fc.constantFrom<unknown>(
  null,
  true,
  false,
  0,
  -0,
  -1,
  1,
  1.5,
  128,
  129,
  2 ** 53,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  "",
  "x",
  "a/b",
  "\u0000",
  "\ud800",
  "x".repeat(256),
  "x".repeat(257),
  [],
  {},
  [[]],
  [null],
  { length: 1, 0: "x" },
  JSON.parse('{"__proto__":{"type":"text"}}'),
  JSON.parse('{"constructor":1,"toString":"x"}'),
);

const said = fc.oneof(odd, fc.string(), fc.integer({ min: -2, max: 130 }));

const part = fc.record(
  { type: fc.oneof({ weight: 4, arbitrary: fc.constant("text") }, odd), text: fc.string() },
  { requiredKeys: [] },
);
const content = fc.oneof(fc.string(), fc.array(fc.oneof({ weight: 6, arbitrary: part }, odd), { maxLength: 3 }), odd);
const message = fc.record(
  { role: fc.oneof({ weight: 4, arbitrary: fc.constant("user") }, odd), content, type: odd },
  { requiredKeys: ["role"] },
);
const messages = fc.oneof(
  { weight: 8, arbitrary: fc.array(fc.oneof({ weight: 8, arbitrary: message }, odd), { maxLength: 3 }) },
  odd,
);

/** Required members with valid values. */
const usual: Readonly<Record<string, unknown>> = {
  model: "openai/some-model",
  messages: [{ role: "user", content: "hello" }],
  input: "hello",
  prompt: "hello",
  max_tokens: 9,
};

/** Members for which one more value is tried. */
const nested = fc.oneof(
  fc.record({ include_usage: said }),
  fc.record({ max_images: said }),
  fc.record({ id: said }),
  content,
  messages,
);

/** Bodies with a schema's members, all but a few of them valid, and one unknown member. */
function bodiesOf(schema: z.ZodType): fc.Arbitrary<unknown> {
  const object = schema instanceof z.ZodPipe ? schema.in : schema;
  const names = object instanceof z.ZodObject ? Object.keys(object.shape) : [];
  const needed = Object.fromEntries(Object.entries(usual).filter(([name]) => names.includes(name)));
  const member = fc.tuple(fc.constantFrom(...names, "unknown"), fc.oneof(said, nested));
  const body = fc
    .array(member, { maxLength: 2 })
    .map((others): Record<string, unknown> => ({ ...needed, ...Object.fromEntries(others) }));
  return fc.oneof({ weight: 20, arbitrary: body }, odd);
}

describe.each(Object.entries(requests))("a body of %s", (_name, schema) => {
  test("accepted without zod is accepted by zod, and returned unchanged", () => {
    fc.assert(
      fc.property(bodiesOf(schema), (body) => {
        if (!matchesWithoutCopy(schema, body)) return;
        expect(schema.safeParse(body)).toEqual({ success: true, data: body });
      }),
      { numRuns: 500 },
    );
  });
});

const input = "hello";
const model = "openai/some-model";

test.each<[string, z.ZodType, object]>([
  ["chat", chatRequest, { model, messages: [{ role: "user", content: input }], max_tokens: 9, temperature: 0.5 }],
  ["messages", messagesRequest, { model, messages: [{ role: "user", content: [{ type: "text" }] }], max_tokens: 9 }],
  ["responses", responsesRequest, { model, input, background: false }],
])("a plain body of %s needs no zod", (_name, schema, body) => {
  expect(matchesWithoutCopy(schema, body)).toBe(true);
});

test.each<[string, z.ZodType, unknown]>([
  [
    "a check of an optional value",
    z
      .boolean()
      .optional()
      .refine((value) => value !== true),
    true,
  ],
  [
    "a check of a nullable value",
    z
      .string()
      .nullable()
      .refine((value) => value !== null),
    null,
  ],
  ["a check of a boolean", z.boolean().refine((value) => value), false],
  ["a check of a choice", z.union([z.string(), z.null()]).refine((value) => value !== null), null],
  ["a check of what may be anything", z.unknown().refine((value) => value !== 1), 1],
  ["a check of an object", z.looseObject({}).refine((value) => !("a" in value)), { a: 1 }],
  ["a check by code that may wait", z.string().refine(() => Promise.resolve(true)), "x"],
  ["a check that notes its own issues", z.string().superRefine((_value, context) => context.addIssue("no")), "x"],
  ["a member that could become a prototype", z.looseObject({}), JSON.parse('{"__proto__":{}}')],
  ["a number that is a format", z.int(), 1.5],
  ["a text that is a format", z.email(), "x"],
  ["an object that is closed", z.strictObject({}), { a: 1 }],
  ["an object that drops what it does not know", z.object({}), { a: 1 }],
  ["a text that is changed", z.string().trim(), " x"],
  ["a value that is made into its type", z.coerce.number(), "1"],
])("%s is left to zod", (_what, schema, value) => {
  expect(matchesWithoutCopy(schema, value)).toBe(false);
});
