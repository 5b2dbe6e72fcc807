import { describe, expect, test } from "bun:test";
import type { Dialect } from "../core/index.ts";
import { translateStream, translations } from "./index.ts";

/** A stream of `upstream` as a client of Messages sees it. */
function open(upstream: Dialect) {
  return translateStream({
    upstream: translations[upstream],
    upstreamContext: { origin: "up", callId: "c", model: "m", readUsage: () => undefined },
    client: translations.messages,
    clientContext: { request: {}, callId: "c", created: 1, inputTokensEstimate: 1, requestId: "req_1" },
    charged: (told) => told?.usage ?? {},
  });
}

const started: Readonly<Record<Dialect, string>> = {
  chat: '{"choices":[{"index":0,"delta":{"content":"He"}}]}',
  messages: '{"type":"message_start","message":{"id":"msg_1","model":"m","content":[],"usage":{}}}',
  gemini: '{"candidates":[{"index":0,"content":{"parts":[{"text":"He"}]}}]}',
  responses: '{"type":"response.created","response":{"id":"resp_1","output":[]}}',
};

describe.each(["chat", "messages", "responses", "gemini"] as const)("a stream of %s", (dialect) => {
  test.each(["{", '{"choices":[{"index":0,"delta":{"content":"ll', '{"type":"message_st}', "{}}"])(
    "with an event that can't be read, %p, is an error: what it said is lost",
    (broken) => {
      const stream = open(dialect);
      stream.see(Buffer.from(`data: ${started[dialect]}\n\n`));
      const shown = stream.see(Buffer.from(`data: ${broken}\n\ndata: ${started[dialect]}\n\n`)).toString();
      expect(shown).toContain("event: error\n");
      expect(shown).toContain("not valid JSON");
      expect(shown.match(/^event: /gm)?.length).toBe(shown.startsWith("event: error") ? 1 : 2);
      expect([stream.failed, stream.complete, stream.done]).toEqual([true, false, true]);
      expect(stream.close().toString()).toBe("");
    },
  );

  test.each(["ping", "", "1", '"{"', "null", "[]", "{}", '{"type":"of_tomorrow"}'])(
    "goes on after what is no event of it: %p",
    (data) => {
      const stream = open(dialect);
      stream.see(Buffer.from(`data: ${started[dialect]}\n\n`));
      expect(stream.see(Buffer.from(`data: ${data}\n\n: comment\n\n`)).toString()).toBe("");
      expect(stream.done).toBe(false);
    },
  );
});
