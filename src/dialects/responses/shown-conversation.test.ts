import { expect, test } from "bun:test";
import type { StreamObserver } from "../../streaming/index.ts";
import { inConversation, streamInConversation } from "./shown-conversation.ts";

const id = "conv_1";
const response = (members: object) => ({ id: "resp_1", object: "response", ...members });
const observer = (): StreamObserver => ({ see: (block: Buffer) => block }) as unknown as StreamObserver;

test.each([
  response({}),
  response({ conversation: null }),
  { conversation: null, ...response({ output: [] }) },
  response({ output: [{ text: 'He said "conversation":null, "response":{ and }' }], conversation: null, store: true }),
])("%j names it, and keeps the rest", (answer) => {
  const text = inConversation(JSON.stringify(answer, null, 1), id);
  expect(JSON.parse(text)).toEqual({ ...answer, conversation: { id } });
  const event = { type: "response.completed", response: answer, sequence_number: 3 };
  const delta = 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"x"}\n\n';
  const block = `${delta}event: response.completed\ndata: ${JSON.stringify(event)}\n\n${delta}`;
  const seen = streamInConversation(observer(), id).see(Buffer.from(block)).toString();
  expect(seen.startsWith(delta) && seen.endsWith(delta)).toBe(true);
  const [, data = ""] = /event: response\.completed\ndata: (.*)\n/.exec(seen) ?? [];
  expect(JSON.parse(data)).toEqual({ ...event, response: { ...answer, conversation: { id } } });
});

test("an answer that is no response keeps its bytes", () => {
  expect(inConversation('{"error": {}}', id)).toBe('{"error": {}}');
});
