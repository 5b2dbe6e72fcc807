import { expect, test } from "bun:test";
import { ChatStreamObserver } from "./observe-stream.ts";
import { singleRoleStream } from "./single-role.ts";

const data = (chunk: unknown): string => `data: ${JSON.stringify(chunk)}\n\n`;
const chunk = (delta: object, index = 0) => ({ id: "x", choices: [{ index, delta, finish_reason: null }] });

function shown(blocks: readonly string[]): string[] {
  const stream = singleRoleStream(new ChatStreamObserver(() => undefined, "shown"));
  return blocks.map((block) => stream.see(Buffer.from(block)).toString());
}

test("a role stands in the first delta of each choice only", () => {
  const role = { role: "assistant" };
  const before = [
    data(chunk({ ...role, content: "a" })) + data(chunk({ ...role, content: "b" })),
    data(chunk({ ...role, content: "c" }, 1)),
    `: comment\n\n${data(chunk({ content: 'a "role" of mine' }))}${data(chunk({ ...role, content: "" }, 1))}data: [DONE]\n\n`,
  ];
  expect(shown(before)).toEqual([
    data(chunk({ ...role, content: "a" })) + data(chunk({ content: "b" })),
    data(chunk({ ...role, content: "c" }, 1)),
    `: comment\n\n${data(chunk({ content: 'a "role" of mine' }))}${data(chunk({ content: "" }, 1))}data: [DONE]\n\n`,
  ]);
});

test("a regular stream keeps its bytes", () => {
  const odd = [
    `data:{ "choices" : [{"delta":{"role":"assistant","content":"1.0"},"x":1.0}]}\r\n\r\n`,
    "data: {half\n\n",
  ];
  expect(shown(odd)).toEqual(odd);
});
