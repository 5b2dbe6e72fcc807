import { expect, test } from "bun:test";
import { codeOutputOf, passagesIn, ResultRoom, textOfOutput } from "./tool-output.ts";

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
  expect(codeOutputOf(result, new ResultRoom())).toMatchObject(expected);
});

test("a flood is cut", () => {
  const { stdout, images } = codeOutputOf(
    { content: [text("x".repeat(1e6)), ...Array.from({ length: 20 }, () => image)] },
    new ResultRoom(),
  );
  expect([stdout.length, images.length]).toEqual([200_000, 8]);
  expect(codeOutputOf({ content: [{ ...image, data: "x".repeat(9e6) }] }, new ResultRoom()).images).toEqual([]);
  const many = { content: Array.from({ length: 90 }, () => text("a")) };
  expect(passagesIn(many, "find", new ResultRoom())).toHaveLength(50);
});

test("the results of all calls of one use have room together", () => {
  const room = new ResultRoom();
  const flood = {
    content: [image, image, image],
    structuredContent: { stdout: "x".repeat(9e4), stderr: "y".repeat(9e4) },
  };
  const outputs = Array.from({ length: 10 }, () => codeOutputOf(flood, room));
  expect(outputs.map(({ stdout, stderr }) => stdout.length + stderr.length)).toEqual([
    180_000,
    20_000,
    ...Array.from({ length: 8 }, () => 0),
  ]);
  expect(outputs.flatMap(({ images }) => images)).toHaveLength(8);
  const large = new ResultRoom();
  const wide = { content: [{ ...image, data: "x".repeat(5e6) }] };
  expect([codeOutputOf(wide, large), codeOutputOf(wide, large)].map(({ images }) => images.length)).toEqual([1, 0]);
  const found = new ResultRoom();
  const [id, uri] = ["i".repeat(1e6), "u".repeat(1e6)];
  const pages = {
    structuredContent: { results: Array.from({ length: 50 }, () => ({ id, uri, text: "x".repeat(9e4) })) },
  };
  const passages = [passagesIn(pages, "find", found), passagesIn(pages, "find", found)].flat();
  expect(
    passages.map(({ fileId, filename, text: passage }) => [fileId, filename, passage].map((each) => each.length)),
  ).toEqual([
    [1_000, 1_000, 90_000],
    [1_000, 1_000, 90_000],
    [1_000, 1_000, 14_000],
  ]);
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
  expect(passagesIn(result, "find", new ResultRoom()).map((each) => [each.filename, each.text])).toEqual(expected);
});
