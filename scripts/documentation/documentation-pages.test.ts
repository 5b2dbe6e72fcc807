import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { guideGroups, guideOf } from "./guides.ts";
import { loadHighlighter } from "./highlight.ts";
import { jsonLiteral, pythonLiteral, typeScriptLiteral } from "./literals.ts";
import { answerExample } from "./answer-examples.ts";
import { type ApiDocument, operationsOf } from "./openapi.ts";
import { referencePages, titleOf } from "./reference-pages.ts";
import { sampleAnswers } from "./sample-answers.ts";
import { sampleBodies, sampleForms } from "./sample-requests.ts";
import { samplePath, samplesOf } from "./samples.ts";
import { fieldNames, schemaView, typeOf } from "./schema-view.ts";
import { sdkCalls } from "./sdk-calls.ts";

const root = join(import.meta.dir, "../..");
const document = JSON.parse(readFileSync(join(root, "openapi.json"), "utf8")) as ApiDocument;
const operations = operationsOf(document);

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(document, "document");

/** What is wrong with a value, by the schema at a place below its operation in the document. */
function faultsOf(
  value: unknown,
  { path, method }: Pick<(typeof operations)[number], "path" | "method">,
  place: string,
) {
  const pointer = path.replaceAll("~", "~0").replaceAll("/", "~1").replaceAll("{", "%7B").replaceAll("}", "%7D");
  const validate = ajv.compile({
    $ref: `document#/paths/${pointer}/${method}/${place}/content/application~1json/schema`,
  });
  validate(value);
  return validate.errors ?? [];
}

beforeAll(loadHighlighter);

describe("the pages", () => {
  test("have every operation once, also those that no page names", () => {
    const added = {
      ...operations[0],
      operationId: "x",
      path: "/admin/v1/brand_new",
      method: "get",
    } as (typeof operations)[number];
    const pages = referencePages([...operations, added]);
    const ids = pages.flatMap((page) => page.operations.map(({ operationId }) => operationId));
    expect(ids.toSorted()).toEqual([...operations.map(({ operationId }) => operationId), "x"].toSorted());
    expect(pages.at(-1)?.operations.at(-1)?.operationId).toBe("x");
    expect(pages.filter(({ about }) => about === "").map(({ title }) => title)).toEqual([]);
  });

  test.each([
    ["createChatCompletion", "Create chat completion"],
    ["rerankV2", "Rerank v2"],
    ["getOpenApi", "Get OpenAPI document"],
  ])("%s is named %p", (operationId, title) => {
    expect(titleOf({ operationId })).toBe(title);
  });
});

describe("the examples of answers", () => {
  const answered = operations.flatMap((operation) => {
    const schema = operation.responses["200"]?.content?.["application/json"]?.schema;
    const example = schema === undefined ? undefined : answerExample(operation, schema, document);
    return example === undefined ? [] : [{ operation, example }];
  });

  test.each(answered.map(({ operation, example }) => [operation.operationId, operation, example] as const))(
    "that of %s fits its schema",
    (_, operation, example) => {
      expect(faultsOf(example, operation, "responses/200")).toEqual([]);
    },
  );

  test("have no names of the sampler", () => {
    const texts = answered.map(({ example }) => JSON.stringify(example));
    expect(texts.filter((text) => /property1|2019-|[^e]":"string"/.test(text))).toEqual([]);
    const ids = new Set(operations.map(({ operationId }) => operationId));
    expect(Object.keys(sampleAnswers).filter((id) => !ids.has(id))).toEqual([]);
  });
});

describe("the samples", () => {
  test("have a body for every operation that takes one, and for no other", () => {
    const taking = operations
      .filter(({ requestBody }) => requestBody !== undefined)
      .map(({ operationId }) => operationId);
    expect([...Object.keys(sampleBodies), ...Object.keys(sampleForms)].toSorted()).toEqual(taking.toSorted());
    const ids = new Set(operations.map(({ operationId }) => operationId));
    expect(Object.keys(sdkCalls).filter((id) => !ids.has(id))).toEqual([]);
  });

  test.each(Object.keys(sampleBodies))("the body of %s fits its schema", (id) => {
    const operation = operations.find(({ operationId }) => operationId === id) ?? { path: "", method: "" };
    expect(faultsOf(sampleBodies[id], operation, "requestBody")).toEqual([]);
  });

  test("parse", () => {
    const transpiler = new Bun.Transpiler({ loader: "ts" });
    for (const operation of operations)
      for (const { label, code } of samplesOf(operation))
        if (label === "TypeScript") expect(() => transpiler.transformSync(code), operation.operationId).not.toThrow();
  });

  const codeOf = (id: string): string[] =>
    operations
      .filter(({ operationId }) => operationId === id)
      .flatMap((each) => samplesOf(each).map(({ code }) => code));

  test.each(["createSpeech", "downloadFile", "downloadVideo", "getScreenshot"])("%s is kept as a file", (id) => {
    const [curl, python, typescript] = codeOf(id);
    expect(curl).toEndWith("-o answer");
    expect(python).toMatch(/open\("answer", "wb"\)|write_to_file\("answer"\)/);
    expect(typescript).toContain('writeFile("answer"');
  });

  test("name what a query needs", () => {
    const parameters: Parameters<typeof samplePath>[0]["parameters"] = [
      { in: "query", name: "purpose", required: true, schema: {} },
      { in: "query", name: "limit", schema: {} },
    ];
    expect(samplePath({ path: "/v1/files/{file_id}", parameters })).toBe("/v1/files/FILE_ID?purpose=PURPOSE");
  });

  test("write values as their languages do", () => {
    const value = { a: [true, null, "it's"], "b-c": { d: 1.5 } };
    expect(pythonLiteral(value)).toBe(`{"a": [True, None, "it's"], "b-c": {"d": 1.5}}`);
    expect(typeScriptLiteral(value)).toBe(`{ a: [true, null, "it's"], "b-c": { d: 1.5 } }`);
    const long = "x".repeat(60);
    expect(pythonLiteral({ a: long, b: [1] })).toBe(`{\n    "a": "${long}",\n    "b": [1],\n}`);
    expect(typeScriptLiteral([])).toBe("[]");
    expect(jsonLiteral({ a: long, b: [1] })).toBe(`{\n  "a": "${long}",\n  "b": [1]\n}`);
  });
});

describe("a guide", () => {
  const names = new Set(["money", "usage"]);
  const html = (markdown: string): string => guideOf("money", markdown, names).html;

  test("links to other guides, and to nothing that is not served", () => {
    expect(html("# T\n\n[a](usage.md#a-period) [b](../README.md) [c](https://example.com/) [d](#x)")).toContain(
      '<a href="/docs/usage#a-period">a</a> b <a href="https://example.com/">c</a> <a href="#x">d</a>',
    );
  });

  test("has each anchor once", () => {
    const { headings } = guideOf("money", "# T\n\n## Same\n\n## `Same`\n", names);
    expect(headings.map(({ slug, text }) => [slug, text])).toEqual([
      ["same", "Same"],
      ["same-1", "Same"],
    ]);
  });

  test("shows what it contains as text", () => {
    const shown = html('# T\n\n<script>alert(1)</script>\n\n`<b>`\n\n```json\n{"a": "</code><script>"}\n```\n');
    expect(shown).not.toContain("<script>");
    expect(shown).toContain("&lt;b&gt;");
  });

  test("is found by every word of its parts", () => {
    const { headings, words } = guideOf(
      "money",
      "# T\n\nBefore `x`.\n\n## A\n\nSee `Retry-After`, (again) see.\n\n### B\n\n| c |\n| - |\n| d&e |\n",
      names,
    );
    expect(words).toBe("before");
    expect(headings.map((each) => each.words)).toEqual(["see retry-after again", ""]);
  });

  test("is in the group that the table of contents names", () => {
    const contents =
      "**Using**\n\n- [Money](money.md): about it\n- [Examples](../x.md): no\n\n**Other**\n\n- [R](../R.md): no\n";
    expect(guideGroups(contents)).toEqual([
      { title: "Using", guides: [{ name: "money", title: "Money", about: "about it" }] },
    ]);
  });
});

describe("a schema", () => {
  const own: ApiDocument = {
    ...document,
    components: {
      schemas: {
        Node: { type: "object", properties: { next: { $ref: "#/components/schemas/Node" }, name: { type: "string" } } },
      },
    },
  };

  test("that contains itself is shown once", () => {
    const shown = schemaView({ $ref: "#/components/schemas/Node" }, own);
    expect(shown.match(/<code>name<\/code>/g)).toHaveLength(1);
  });

  test.each([
    [{ type: ["string", "null"] }, "string or null"],
    [{ type: "array", items: { enum: ["a", "b"] } }, 'array of "a" or "b"'],
    [{ anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }, "string or array of strings"],
    [{ type: "array", items: { type: "string" } }, "array of strings"],
    [{ type: ["array", "null"], items: { type: "integer" } }, "array of integers or null"],
    [{ type: "string", anyOf: [{ format: "date" }, { pattern: "0" }] }, "string"],
    [{}, "any"],
  ])("%j is in words %p", (schema, words) => {
    expect(typeOf(schema, own)).toBe(words);
  });

  test("has anchors for its first fields alone, and names of all", () => {
    const nested = { properties: { a: { properties: { b: { type: "string" } } } } };
    const shown = schemaView(nested, own, "createThing");
    expect([...shown.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)).toEqual(["createThing-a"]);
    expect(fieldNames(nested, own)).toEqual(["a", "b"]);
  });

  test("has the bounds that a reader has to know", () => {
    const properties = {
      a: { type: "integer", minimum: 1, maximum: 128 },
      b: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      c: { type: "string", minLength: 1, maxLength: 64 },
      d: { enum: ["p", "q", "r", "s"] },
    };
    const text = schemaView({ properties }, own)
      .replaceAll(/<[^>]+>/g, "|")
      .replaceAll(/\|+/g, "|");
    for (const part of ["|1| to |128|", "at least |0|", "at most |64| characters", "one of |p|, |q|, |r|, |s|"])
      expect(text).toContain(part);
  });

  test("has no HTML of its descriptions", () => {
    const shown = schemaView({ properties: { a: { description: "<img src=x> `x<y`" } } }, own);
    expect(shown).toContain("&lt;img src=x&gt; <code>x&lt;y</code>");
  });
});
