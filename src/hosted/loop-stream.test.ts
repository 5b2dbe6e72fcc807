import { expect, test } from "bun:test";
import { StoredBody } from "../charges/index.ts";
import { type AnswerEvent, translations } from "../dialects/index.ts";
import type { LoopAnswer } from "./loop-parts.ts";
import { LoopStream } from "./loop-stream.ts";

test("each part of an answer is stored once, though its client leaves while it waits for the next one", async () => {
  const reached = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const block = { choice: 0, index: 0 } as const;
  async function* events(): AsyncGenerator<readonly AnswerEvent[]> {
    yield [{ type: "start", id: "", model: "m", created: 1 }];
    reached.resolve();
    await goOn.promise;
    yield [
      { type: "block-start", ...block, block: { kind: "text", text: "" } },
      { type: "delta", ...block, text: "once" },
      { type: "block-end", ...block },
    ];
    yield [{ type: "stop", choice: 0, stop: { reason: "end" } }, { type: "end" }];
  }
  const recorder = new StoredBody();
  const parts = {
    loop: { events },
    first: { status: 200 },
    context: { request: {}, callId: "c", created: 1, inputTokensEstimate: 1, requestId: "req_c" },
    translation: translations.messages,
    abort: new AbortController(),
    headers: {},
    running: {
      client: { signal: new AbortController().signal },
      watchdog: { ticker: { after: () => () => undefined } },
      work: { firstByte: () => undefined },
      end: async () => ended.resolve(),
    },
  };
  const stream = new LoopStream({ ...(parts as never as LoopAnswer), recorder });
  const reader = stream.readable.getReader();
  await reader.read();
  const waiting = reader.read();
  await reached.promise;
  await reader.cancel();
  goOn.resolve();
  await Promise.all([waiting, ended.promise]);
  const stored = new TextDecoder().decode(recorder.bytes());
  expect(stored.split('"once"')).toHaveLength(2);
  expect(stored.split("message_stop")).toHaveLength(3);
});
