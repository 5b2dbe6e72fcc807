import { expect, test } from "bun:test";
import { codeOutputOf, passagesIn, textOfOutput } from "./tool-output.ts";

const text = (value: string) => ({ type: "text", text: value });
const image = { type: "image", data: "aGk=", mimeType: "image/jpeg" };

test.each([
  ["texts", { content: [text("a"), text("b")] }, { stdout: "a\nb", stderr: "", exitCode: 0 }],
  ["an error", { content: [text("no")], isError: true }, { stdout: "", stderr: "no", exitCode: 1 }],
  [
    "data",
    { structuredContent: { stdout: "a", stderr: "b", returncode: 2 } },
    { stdout: "a", stderr: "b", exitCode: 2 },
  ],
  ["data within", { structuredContent: { result: { stdout: "a" } } }, { stdout: "a", stderr: "", exitCode: 0 }],
  ["JSON", { content: [text('{"stdout":"a","exit_code":3}')] }, { stdout: "a", stderr: "", exitCode: 3 }],
  ["other JSON", { content: [text('{"a":1}')] }, { stdout: '{"a":1}', stderr: "", exitCode: 0 }],
  ["an image", { content: [image] }, { stdout: "", images: ["data:image/jpeg;base64,aGk="] }],
])("the output of code: %s", (_title, result, expected) => {
  expect(codeOutputOf(result)).toMatchObject(expected);
});

test("a flood is cut", () => {
  const { stdout, images } = codeOutputOf({
    content: [text("x".repeat(1e6)), ...Array.from({ length: 20 }, () => image)],
  });
  expect([stdout.length, images.length]).toEqual([200_000, 8]);
  expect(codeOutputOf({ content: [{ ...image, data: "x".repeat(9e6) }] }).images).toEqual([]);
  expect(passagesIn({ content: Array.from({ length: 90 }, () => text("a")) }, "find")).toHaveLength(50);
});

test("the model is told the exit code of a failure, and that nothing was printed", () => {
  expect(textOfOutput({ stdout: "a", stderr: "b", exitCode: 2 })).toBe("a\nb\nexit code 2");
  expect(textOfOutput({ stdout: "", stderr: "", exitCode: 0 })).toBe("There is no output.");
});

test.each([
  ["a list in the data", { structuredContent: { n: 1, matches: [{ title: "a", snippet: "A" }] } }, [["a", "A"]]],
  ["a list as JSON", { content: [text('{"results":[{"path":"a","text":"A"}]}')] }, [["a", "A"]]],
  [
    "a JSON each",
    { content: [text('{"uri":"a","content":"A"}'), text('{"url":"b","text":"B"}')] },
    [
      ["a", "A"],
      ["b", "B"],
    ],
  ],
  [
    "texts",
    { content: [text("A"), text("B")] },
    [
      ["find", "A"],
      ["find", "B"],
    ],
  ],
  ["resources", { content: [{ type: "resource", resource: { uri: "f:a", text: "A" } }] }, [["f:a", "A"]]],
  ["nothing", { content: [], structuredContent: { results: [] } }, []],
])("the passages of files: %s", (_title, result, expected) => {
  expect(passagesIn(result, "find").map((each) => [each.filename, each.text])).toEqual(expected);
});
