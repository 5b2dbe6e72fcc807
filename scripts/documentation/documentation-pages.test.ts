import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { guideGroups, guideOf } from "./guides.ts";
import { loadHighlighter } from "./highlight.ts";
import { pythonLiteral, typeScriptLiteral } from "./literals.ts";
import { type ApiDocument, operationsByTag } from "./openapi.ts";
import { sampleBodies, sampleForms, sdkCalls } from "./sample-requests.ts";
import { samplePath, samplesOf } from "./samples.ts";
import { schemaView, typeOf } from "./schema-view.ts";

const root = join(import.meta.dir, "../..");
const document = JSON.parse(readFileSync(join(root, "openapi.json"), "utf8")) as ApiDocument;
const operations = [...operationsByTag(document).values()].flat();

beforeAll(loadHighlighter);

describe("the samples", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, "document");

  test("have a body for every operation that takes one, and for no other", () => {
    const taking = operations
      .filter(({ requestBody }) => requestBody !== undefined)
      .map(({ operationId }) => operationId);
    expect([...Object.keys(sampleBodies), ...Object.keys(sampleForms)].toSorted()).toEqual(taking.toSorted());
    const ids = new Set(operations.map(({ operationId }) => operationId));
    expect(Object.keys(sdkCalls).filter((id) => !ids.has(id))).toEqual([]);
  });

  test.each(Object.keys(sampleBodies))("the body of %s fits its schema", (id) => {
    const { path, method } = operations.find(({ operationId }) => operationId === id) ?? { path: "", method: "" };
    const pointer = path.replaceAll("~", "~0").replaceAll("/", "~1").replaceAll("{", "%7B").replaceAll("}", "%7D");
    const validate = ajv.compile({
      $ref: `document#/paths/${pointer}/${method}/requestBody/content/application~1json/schema`,
    });
    validate(sampleBodies[id]);
    expect(validate.errors ?? []).toEqual([]);
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
    expect(python).toContain('open("answer", "wb")');
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
    [{ anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }, "string or array of string"],
    [{}, "any"],
  ])("%j is in words %p", (schema, words) => {
    expect(typeOf(schema, own)).toBe(words);
  });

  test("has no HTML of its descriptions", () => {
    const shown = schemaView({ properties: { a: { description: "<img src=x> `x<y`" } } }, own);
    expect(shown).toContain("&lt;img src=x&gt; <code>x&lt;y</code>");
  });
});
