/** Every recorded stream, sent for a limit of just its own tokens and on credits for just that limit: none is cut. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Dialect } from "../../src/core/index.ts";
import {
  chatPath,
  expectCleanAudit,
  type Gateway,
  messagesPath,
  responsesPath,
  type ScriptedUpstream,
  startGateway,
  startScriptedUpstream,
} from "../kit/index.ts";
import { streams } from "./answered.ts";
import { bytesOf, type Recording, recordings } from "./recordings.ts";

const dialects: readonly Dialect[] = ["chat", "messages", "responses"];
const paths = {
  chat: chatPath,
  messages: messagesPath,
  responses: responsesPath,
  gemini: "/v1beta/models/gemini/m:streamGenerateContent?alt=sse",
};

const messages = [{ role: "user", content: "Hi." }];

/** A stream of at most so many tokens. */
const bodies: Readonly<Record<Dialect, (tokens: number) => object>> = {
  chat: (tokens) => ({ model: "chat/m", stream: true, max_tokens: tokens, messages }),
  messages: (tokens) => ({ model: "messages/m", stream: true, max_tokens: tokens, messages }),
  responses: (tokens) => ({ model: "responses/m", stream: true, max_output_tokens: tokens, input: "Hi." }),
  gemini: (tokens) => ({ contents: [{ parts: [{ text: "Hi." }] }], generationConfig: { maxOutputTokens: tokens } }),
};

let upstream: ScriptedUpstream;
let gateway: Gateway;
beforeAll(async () => {
  upstream = startScriptedUpstream();
  const entry = { kind: "openai-compatible", base_url: upstream.url, api_key: "unused" };
  gateway = await startGateway({
    providers: {
      ...Object.fromEntries(dialects.map((dialect) => [dialect, { ...entry, dialects: [dialect] }])),
      gemini: { ...entry, kind: "google" },
    },
    config: { pricing: { models: { "*/m": { input_mtok: 0, output_mtok: 1_000 } } } },
  });
});
afterAll(async () => {
  await expectCleanAudit(gateway);
  await gateway.stop();
  await upstream.stop();
});

/** The tokens of output that the upstream reports at its end, thought included; 0 for a capture that breaks off. */
function tokensOf(recording: Recording): number {
  const { usage = {}, failure } = streams[recording.dialect](bytesOf(recording).toString("utf8"));
  return failure === undefined ? (usage.output ?? 0) + (usage.reasoning ?? 0) : 0;
}

const told = recordings
  .filter(({ status, stream }) => status === 200 && stream)
  .map((recording) => ({ recording, tokens: tokensOf(recording), name: `${recording.id} of ${recording.upstream}` }))
  .filter(({ tokens }) => tokens > 0);

test.each(told)("$name: $tokens tokens", async ({ recording, tokens }) => {
  const { dialect } = recording;
  const headers = { "content-type": "text/event-stream" };
  upstream.answerWith(() => new Response(bytesOf(recording), { headers }));
  const token = await gateway.token({ user: `reader-${recording.id}`, credits: BigInt(tokens) * 1_000_000n });
  const answer = await fetch(gateway.url + paths[dialect], {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(bodies[dialect](tokens)),
  });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  expect(text).not.toContain("insufficient_credits");
});
