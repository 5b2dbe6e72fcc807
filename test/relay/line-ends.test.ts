/** Event streams whose lines end with CR alone, translated by a gateway while they arrive. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Caller, post, type Rig, type ScriptedUpstream, startRig, startScriptedUpstream } from "../kit/index.ts";

let upstream: ScriptedUpstream;
let rig: Rig;
let caller: Caller;
beforeAll(async () => {
  upstream = startScriptedUpstream();
  rig = await startRig({
    providers: () => ({ up: { kind: "openai-compatible", base_url: upstream.url, api_key: "k" } }),
  });
  caller = await rig.caller();
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
  await upstream.stop();
});

const event = (chunk: object): string => `data: ${JSON.stringify(chunk)}\r\r`;
const piece = (content: string): string => event({ choices: [{ index: 0, delta: { content } }] });
const end =
  event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }) +
  event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } }) +
  "data: [DONE]\r\r";

test.each([
  ["/v1/messages", { max_tokens: 9, messages: [{ role: "user", content: "hi" }] }, "message_stop"],
  ["/v1/responses", { input: "hi" }, "response.completed"],
])("%s shows each event as it comes, and charges the usage", async (path, body, last) => {
  const gate = Promise.withResolvers<void>();
  upstream.answerWith(() => {
    const lines = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(Buffer.from(piece("first")));
        // One event is only known to have ended when the next one begins.
        controller.enqueue(Buffer.from(piece("second")));
        await gate.promise;
        controller.enqueue(Buffer.from(end));
        controller.close();
      },
    });
    return new Response(lines, { headers: { "content-type": "text/event-stream" } });
  });
  const before = await caller.closed();
  const answer = await post(rig, path, caller.token, { model: "up/m", stream: true, ...body });
  const reader = (answer.body ?? new ReadableStream<Uint8Array>()).pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("first")) text += (await reader.read()).value ?? "";
  expect(text).not.toContain(last);
  gate.resolve();
  for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value;
  expect(text).toContain("second");
  expect(text).toContain(last);
  // Three tokens of input and two of output, by the flat price.
  expect((await caller.closed()) - before).toBe(7_000n);
});
