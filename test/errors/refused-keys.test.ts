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
import { forms, handshake, posts } from "./every-route.ts";

const upstreamText = "Your authentication token has expired, please sign in again";

let rig: Rig;
let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = startScriptedUpstream();
  rig = await startRig({
    providers: () => ({
      openai: { kind: "openai", base_url: upstream.url, api_keys: ["k-one", "k-two"] },
      anthropic: { kind: "anthropic", base_url: upstream.url, api_key: "k-three" },
      chats: { kind: "openai-compatible", base_url: upstream.url, api_key: "k-four" },
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

async function expectRefused(answer: Response): Promise<void> {
  const text = await answer.text();
  expect(text).toContain("refuses the gateway's key");
  expect(answer.status).toBe(502);
  expect(answer.headers.get("x-tollgate-error-source")).toBe("upstream");
  expect(text).not.toContain(upstreamText);
  expectNoInside(text);
}

test.each([...posts])("POST %s %j", async (path, body) => {
  const caller = await rig.caller();
  const answer = await fetch(rig.gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${caller.token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  await expectRefused(answer);
  expect(await caller.closed()).toBe(0n);
});

test.each([...forms])("POST %s with a form", async (path, fields) => {
  const caller = await rig.caller();
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  const headers = { authorization: `Bearer ${caller.token}` };
  await expectRefused(await fetch(rig.gateway.url + path, { method: "POST", headers, body }));
  expect(await caller.closed()).toBe(0n);
});

test("a list of files", async () => {
  const caller = await rig.caller();
  const headers = { authorization: `Bearer ${caller.token}` };
  await expectRefused(await fetch(`${rig.gateway.url}/v1/files`, { headers }));
});

test("the handshake of a realtime session", async () => {
  const caller = await rig.caller();
  const answer = await fetch(`${rig.gateway.url}/v1/realtime?model=openai/gpt-realtime`, {
    headers: { authorization: `Bearer ${caller.token}`, ...handshake },
  });
  await expectRefused(answer);
  expect(await caller.closed()).toBe(0n);
});

test("is logged as an error once a minute for each key, with its provider and id", async () => {
  const lines = await until("each key has a line", () => {
    const found = rig.gateway.logLines().filter(({ msg }) => String(msg).startsWith("the provider refuses the key"));
    return found.length >= 4 && found;
  });
  expect(lines.map(({ level, provider }) => `${String(level)} ${String(provider)}`).toSorted()).toEqual([
    "50 anthropic",
    "50 chats",
    "50 openai",
    "50 openai",
  ]);
  expect(new Set(lines.map((line) => line["key_id"])).size).toBe(4);
});
