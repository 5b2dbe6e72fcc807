import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseObject } from "../../core/index.ts";
import { utf8FromLatin1 } from "./latin1.ts";
import { editBytes, type JsonEdit } from "./edit.ts";
import { type JsonMember, scanObject } from "./scan.ts";

const DEPTH_MAX = 64;
const MEMBERS_MAX = 32;
const VALUES_MAX = 1_000;
const KEYS_MAX = 100;
const BARE_BYTES_MAX = 10_000;
const bounds = {
  depthMax: DEPTH_MAX,
  membersMax: MEMBERS_MAX,
  valuesMax: VALUES_MAX,
  keysMax: KEYS_MAX,
  bareBytesMax: BARE_BYTES_MAX,
};

const scan = (text: string) => scanObject(Buffer.from(text), bounds);

function membersOf(text: string): JsonMember[] {
  const found = scan(text);
  if ("refused" in found) throw new Error(`refused as ${found.refused}: ${text}`);
  return found.members;
}

const parse = (text: string) => JSON.parse(text) as Record<string, unknown>;
const valueText = (text: string, { valueStart, valueEnd }: JsonMember): string =>
  Buffer.from(text).toString("utf8", valueStart, valueEnd);

const edited = (text: string, edits: readonly JsonEdit[]): string =>
  Buffer.concat(editBytes(Buffer.from(text), membersOf(text), edits)).toString();

/** White space, escapes and number spellings that `JSON.stringify` never writes. */
const space = fc.string({ unit: fc.constantFrom(" ", "\n", "\t", "\r"), maxLength: 2 });
const character = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("a", "é", "😀", "{", "}", "[", "]", ":", ",", " ") },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      String.raw`\"`,
      String.raw`\\`,
      String.raw`\n`,
      String.raw`\u0065`,
      String.raw`\ud83d\ude00`,
      String.raw`\/`,
    ),
  },
);
const stringText = fc.array(character, { maxLength: 6 }).map((characters) => `"${characters.join("")}"`);
const scalarText = fc.oneof(
  fc.constantFrom("null", "true", "false", "0", "-0", "1e3", "1.50", "12345678901234567890", "-1.0E-2"),
  stringText,
);

const { value: valueOf } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalarText,
    fc
      .tuple(fc.array(fc.tuple(space, tie("value"), space), { maxLength: 3 }))
      .map(([items]) => `[${items.map((item) => item.join("")).join(",")}]`),
    fc
      .tuple(fc.array(fc.tuple(space, stringText, space, tie("value"), space), { maxLength: 3 }))
      .map(([items]) => `{${items.map(([a, key, b, value, c]) => `${a}${key}${b}:${value}${c}`).join(",")}}`),
  ),
}));

interface ObjectText {
  text: string;
  entries: { key: string; keyText: string; value: string }[];
}

/** Texts of objects whose decoded keys are all different. */
const objectText: fc.Arbitrary<ObjectText> = fc
  .tuple(
    space,
    space,
    fc.uniqueArray(fc.record({ keyText: stringText, value: valueOf, gaps: fc.tuple(space, space, space, space) }), {
      maxLength: 5,
      selector: ({ keyText }) => String(JSON.parse(keyText)),
    }),
  )
  .map(([before, after, members]) => {
    const inner = members
      .map(({ keyText, value, gaps: [a, b, c, d] }) => `${a}${keyText}${b}:${c}${value}${d}`)
      .join(",");
    const entries = members.map(({ keyText, value }) => ({ keyText, value, key: String(JSON.parse(keyText)) }));
    return { text: `${before}{${inner}}${after}`, entries };
  });

describe("the scan of an object's text", () => {
  test("finds the members of any valid object, with their exact texts", () => {
    fc.assert(
      fc.property(objectText, ({ text, entries }) => {
        // The generated text must be JSON, or the test would prove nothing.
        expect(Object.keys(parse(text)).toSorted()).toEqual(entries.map(({ key }) => key).toSorted());
        const members = membersOf(text);
        expect(members.map(({ key }) => key)).toEqual(entries.map(({ key }) => key));
        expect(members.map((member) => valueText(text, member))).toEqual(entries.map(({ value }) => value));
        for (const [index, { keyStart }] of members.entries()) {
          const fromKey = Buffer.from(text).toString("utf8", keyStart);
          expect(fromKey.startsWith(entries[index]?.keyText ?? "?")).toBe(true);
        }
      }),
    );
  });

  test("finds the keys that JSON.parse finds in anything that JSON.stringify writes", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(undefined, 2, "\t"), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        const members = membersOf(text);
        expect(new Set(members.map(({ key }) => key))).toEqual(new Set(Object.keys(parse(text))));
        for (const member of members) expect(JSON.parse(valueText(text, member))).toEqual(parse(text)[member.key]);
      }),
    );
  });

  test("distinguishes keys with small differences, in any order", () => {
    const letters = fc.constantFrom("a", "b", "é", "\u{1f600}", "\\", '"', "\u0000");
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ unit: letters, maxLength: 3 }), { maxLength: 20 }), (keys) => {
        const text = `{${keys.map((key) => `${JSON.stringify(key)}:1`).join(",")}}`;
        expect(membersOf(text).map(({ key }) => key)).toEqual(keys);
      }),
    );
  });

  test("refuses nothing that is an object, and finds all of its keys", () => {
    const unit = fc.constantFrom("{", "}", "[", "]", '"', "\\", ":", ",", "a", "1", " ", "\n", '"a":', '{"a":', '"b"');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 40 }), (inner) => {
        const text = `{${inner}`;
        const found = scan(text);
        const value = parseObject(text);
        if (value === undefined) return;
        const keys = "members" in found ? found.members.map(({ key }) => key) : undefined;
        expect(keys && new Set(keys)).toEqual(new Set(Object.keys(value)));
      }),
      { numRuns: 2_000 },
    );
  });

  test("finds the end of any string, short or long, and reports the long ones", () => {
    const letter = fc.constantFrom("a", "é", '"', "\\", "\n", '\\"'.repeat(9), "x".repeat(30), "y".repeat(500));
    fc.assert(
      fc.property(fc.string({ unit: letter, maxLength: 40 }), fc.boolean(), (said, nested) => {
        const written = JSON.stringify(said);
        const text = `{"a":${nested ? `[${written}]` : written},"b":1}`;
        expect(membersOf(text).map((member) => valueText(text, member))).toEqual([text.slice(5, -7), "1"]);
        const found = scan(text);
        const start = nested ? 6 : 5;
        const end = start + Buffer.byteLength(written);
        expect(found).toHaveProperty("longStrings", end - start > 512 ? [{ start, end }] : []);
      }),
    );
  });

  test.each(["", "  ", "[]", "null", '"{}"', "1", "\u{feff}{}"])("refuses %p as no object", (text) => {
    expect(scan(text)).toEqual({ refused: "not-an-object" });
  });

  test.each([
    "{",
    "{,}",
    '{"a"}',
    '{"a":1',
    '{"a":1,}',
    '{"a":1]',
    '{"a":1}}',
    '{"a":1} x',
    '{"a',
    "{a:1}",
    '{"a":"\\"}',
  ])("refuses %p as not JSON", (text) => {
    expect(scan(text)).toEqual({ refused: "not-json" });
  });

  test("bounds the nesting, whatever the brackets", () => {
    const nested = (levels: number): string => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
    expect(scan(nested(DEPTH_MAX))).toHaveProperty("members");
    expect(scan(nested(DEPTH_MAX + 1))).toEqual({ refused: "too-deep" });
    expect(scan('{"a":'.repeat(100_000))).toEqual({ refused: "too-deep" });
  });

  test("bounds the members of the object, not of those inside", () => {
    const object = (count: number): string =>
      `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join()}}`;
    expect(membersOf(object(MEMBERS_MAX))).toHaveLength(MEMBERS_MAX);
    expect(scan(object(MEMBERS_MAX + 1))).toEqual({ refused: "too-many-members" });
    expect(membersOf(`{"a":${object(MEMBERS_MAX + 1)}}`)).toHaveLength(1);
  });

  test("bounds the values on every level", () => {
    const valuesOf = (value: unknown): number => {
      if (typeof value !== "object" || value === null) return 1;
      return (
        1 +
        Math.max(
          Object.values(value).reduce((sum: number, inner) => sum + valuesOf(inner), 0),
          1,
        )
      );
    };
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1, maxKeys: 5 }), (value) => {
        const bytes = Buffer.from(JSON.stringify(value));
        // The outermost object itself does not count.
        const valuesMax = valuesOf(JSON.parse(bytes.toString())) - 1;
        expect(scanObject(bytes, { ...bounds, valuesMax })).toHaveProperty("members");
        expect(scanObject(bytes, { ...bounds, valuesMax: valuesMax - 1 })).toEqual({ refused: "too-many-values" });
      }),
    );
  });

  test("bounds the keys of inner objects, in all members together", () => {
    const objectsOf = (count: number): string => Array.from({ length: count }, () => '{"k":"a:b"}').join();
    const half = objectsOf(KEYS_MAX / 2);
    expect(membersOf(`{"a":[${half}],"b":[${half}]}`)).toHaveLength(2);
    expect(scan(`{"a":[${half}],"b":[${half}],"c":{"k":1}}`)).toEqual({ refused: "too-many-keys" });
  });

  test("bounds the bytes of numbers and white space, and none in strings", () => {
    const within = `{"a":${"1".repeat(BARE_BYTES_MAX / 2)},"b":[${" ".repeat(BARE_BYTES_MAX / 2)}],"c":"${"1".repeat(BARE_BYTES_MAX)}"`;
    expect(membersOf(`${within}}`)).toHaveLength(3);
    expect(scan(`${within},"d":1}`)).toEqual({ refused: "too-many-bytes" });
  });

  test("brackets inside strings don't count", () => {
    expect(membersOf(`{"a":"${"[".repeat(1000)}","b":"\\"}{"}`).map(({ key }) => key)).toEqual(["a", "b"]);
  });
});

/** The edit performed the slow way, on the parsed value. */
function reference(text: string, edits: readonly JsonEdit[]): Record<string, unknown> {
  const value = JSON.parse(text) as Record<string, unknown>;
  let entries = Object.entries(value);
  for (const edit of edits) {
    if ("remove" in edit) entries = entries.filter(([key]) => key !== edit.remove);
    else if ("rename" in edit) entries = entries.map(([key, item]) => [key === edit.rename ? edit.to : key, item]);
    else if (entries.some(([key]) => key === edit.set))
      entries = entries.map(([key, item]) => [key, key === edit.set ? JSON.parse(edit.value) : item]);
    else entries.push([edit.set, JSON.parse(edit.value)]);
  }
  return Object.fromEntries(entries);
}

/** Edits of different keys, some of which exist in the object. */
const editsOf = ({ entries }: ObjectText): fc.Arbitrary<JsonEdit[]> => {
  const key = fc.constantFrom(...entries.map((entry) => entry.key), "model", "stream_options", 'qu"ote');
  const edit = fc.oneof(
    fc.record({ set: key, value: fc.constantFrom('"gpt-5"', '{"include_usage":true}', "[1, 2]", "null") }),
    fc.record({ remove: key }),
    fc.record({ rename: key, to: fc.constantFrom("renamed-1", 'renamed "2"') }),
  );
  return fc
    .uniqueArray(edit, { maxLength: 4, selector: touched })
    .filter((edits) => new Set(edits.map(targetOf)).size === edits.length);
};

function touched(edit: JsonEdit): string {
  if ("set" in edit) return edit.set;
  return "remove" in edit ? edit.remove : edit.rename;
}

const targetOf = (edit: JsonEdit): string => ("rename" in edit ? edit.to : touched(edit));

describe("edits of an object's text", () => {
  test("have the effect of the same edits of the value, and leave every other member's text unchanged", () => {
    fc.assert(
      fc.property(
        objectText.chain((object) => fc.tuple(fc.constant(object), editsOf(object))),
        ([{ text, entries }, edits]) => {
          const result = edited(text, edits);
          expect(JSON.parse(result)).toEqual(reference(text, edits));
          const left = new Map(membersOf(result).map((member) => [member.key, valueText(result, member)]));
          const keys = new Set(edits.map(touched));
          for (const { key, value } of entries) if (!keys.has(key)) expect(left.get(key)).toBe(value);
        },
      ),
      { numRuns: 300 },
    );
  });

  test.each<[string, JsonEdit[], string]>([
    ['{"model":"a/b","n":1.0}', [{ set: "model", value: '"b"' }], '{"model":"b","n":1.0}'],
    ['{ "model" : "a/b" , "n" : 1e2 }\n', [{ set: "model", value: '"b"' }], '{ "model" : "b" , "n" : 1e2 }\n'],
    [String.raw`{"mod\u0065l":"a/b"}`, [{ set: "model", value: '"b"' }], String.raw`{"mod\u0065l":"b"}`],
    ["{}", [{ set: "a", value: "1" }], '{"a":1}'],
    [
      "{ }",
      [
        { set: "a", value: "1" },
        { set: "b", value: "2" },
      ],
      '{ "a":1,"b":2}',
    ],
    ['{"x":"}"}', [{ set: "a", value: "1" }], '{"x":"}","a":1}'],
    ['{"a":1,"b":2,"c":3}', [{ remove: "a" }, { remove: "b" }], '{"c":3}'],
    ['{"a":1,"b":2}', [{ remove: "a" }, { remove: "b" }, { set: "c", value: "3" }], '{"c":3}'],
    ['{"a":1, "b": 2}', [{ remove: "a" }, { rename: "b", to: "B" }], '{"B":2}'],
    ['{"a":1}', [{ remove: "missing" }, { rename: "also", to: "missing" }], '{"a":1}'],
    ['{"text":"日本","model":"é/b"}', [{ set: "model", value: '"b"' }], '{"text":"日本","model":"b"}'],
    ['{"model":"é/日","text":"日本"}', [{ set: "model", value: '"日"' }], '{"model":"日","text":"日本"}'],
    ['{"model":"b"}', [{ set: "model", value: '"longer"' }], '{"model":"longer"}'],
  ])("%j with %j is %j", (text, edits, result) => {
    expect(edited(text, edits)).toBe(result);
  });
});

test("a text is decoded from its bytes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const bytes = Buffer.from(text);
      expect(utf8FromLatin1(bytes.toString("latin1"))).toBe(bytes.toString());
    }),
  );
});
