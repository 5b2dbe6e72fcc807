/** A provider that refuses the operator's key: the same error of the gateway's own at every route, and nothing charged. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import {
  expectNoInside,
  type Rig,
  type ScriptedUpstream,
  startRig,
  startScriptedUpstream,
  until,
} from "../kit/index.ts";

const upstreamText = "Your authentication token has expired, please sign in again";

let rig: Rig;
let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = startScriptedUpstream();
  rig = await startRig({
    providers: () => ({
      openai: { kind: "openai", base_url: upstream.url, api_keys: ["k-one", "k-two"] },
      anthropic: { kind: "anthropic", base_url: upstream.url, api_key: "k-three" },
    }),
  });
  upstream.answerWith(() =>
    Response.json({ error: { message: upstreamText, code: "token_expired" } }, { status: 401 }),
  );
});
afterEach(() => rig.expectBalancedBooks());
afterAll(async () => {
  await rig.stop();
  await upstream.stop();
});

const said = [{ role: "user", content: "hi" }];
const chat = "openai/gpt-4o-mini";
const claude = "anthropic/claude-haiku-4-5";

const posts: [string, object][] = [
  ["/v1/chat/completions", { model: chat, messages: said }],
  ["/v1/chat/completions", { model: chat, messages: said, stream: true }],
  ["/v1/chat/completions", { model: claude, messages: said, max_tokens: 9 }],
  ["/v1/messages", { model: chat, messages: said, max_tokens: 9 }],
  ["/v1/messages", { model: claude, messages: said, max_tokens: 9, stream: true }],
  ["/v1/messages/count_tokens", { model: claude, messages: said }],
  ["/v1/responses", { model: chat, input: "hi" }],
  ["/v1/responses", { model: claude, input: "hi", stream: true }],
  ["/v1/responses/input_tokens", { model: chat, input: "hi" }],
  ["/v1/embeddings", { model: "openai/text-embedding-3-small", input: "hi" }],
  ["/v1/audio/speech", { model: "openai/gpt-4o-mini-tts", input: "hi", voice: "alloy" }],
  ["/v1/images/generations", { model: "openai/gpt-image-1", prompt: "a cat" }],
  ["/v1/videos", { model: "openai/sora-2", prompt: "a cat" }],
];

async function expectRefused(answer: Response): Promise<void> {
  const text = await answer.text();
  expect(text).toContain("refuses the gateway's key");
  expect(answer.status).toBe(502);
  expect(answer.headers.get("x-tollgate-error-source")).toBe("upstream");
  expect(text).not.toContain(upstreamText);
  expectNoInside(text);
}

test.each(posts)("POST %s %j", async (path, body) => {
  const caller = await rig.caller();
  const answer = await fetch(rig.gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${caller.token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  await expectRefused(answer);
  expect(await caller.closed()).toBe(0n);
});

test("an upload and a list of files", async () => {
  const caller = await rig.caller();
  const headers = { authorization: `Bearer ${caller.token}` };
  const form = new FormData();
  form.set("purpose", "user_data");
  form.set("file", new File(["hi"], "a.txt"));
  await expectRefused(await fetch(`${rig.gateway.url}/v1/files`, { method: "POST", headers, body: form }));
  await expectRefused(await fetch(`${rig.gateway.url}/v1/files`, { headers }));
});

test("the handshake of a realtime session", async () => {
  const caller = await rig.caller();
  const answer = await fetch(`${rig.gateway.url}/v1/realtime?model=openai/gpt-realtime`, {
    headers: {
      authorization: `Bearer ${caller.token}`,
      connection: "upgrade",
      upgrade: "websocket",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      "sec-websocket-version": "13",
    },
  });
  await expectRefused(answer);
  expect(await caller.closed()).toBe(0n);
});

test("is logged as an error once a minute for each key, with its provider and id", async () => {
  const lines = await until("each key has a line", () => {
    const found = rig.gateway.logLines().filter(({ msg }) => String(msg).startsWith("the provider refuses the key"));
    return found.length >= 3 && found;
  });
  expect(lines.map(({ level, provider }) => `${String(level)} ${String(provider)}`).toSorted()).toEqual([
    "50 anthropic",
    "50 openai",
    "50 openai",
  ]);
  expect(new Set(lines.map((line) => line["key_id"])).size).toBe(3);
});
