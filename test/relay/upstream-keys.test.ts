import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import {
  chatPath,
  eventsOf,
  messagesPath,
  post,
  responsesPath,
  type Rig,
  type ScriptedUpstream,
  startRig,
  startScriptedUpstream,
  until,
} from "../kit/index.ts";

const [firstKey, secondKey] = ["sk-live-first-0123456789abcdef", "sk-live-second-fedcba9876543210"];

let rig: Rig;
let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = startScriptedUpstream();
  rig = await startRig({
    config: { upstream: { retries: 3, retry_after_max: "1s" }, log: { level: "trace" } },
    providers: () => {
      const entry = (more: object): object => ({ kind: "openai", base_url: upstream.url, ...more });
      return {
        single: entry({ api_key: firstKey }),
        chats: entry({ kind: "openai-compatible", api_key: firstKey }),
        double: entry({ api_keys: [firstKey, secondKey] }),
        // A cooling key stays unused: each test with a refused key has its own pool.
        spent: entry({ api_key: firstKey }),
        spare: entry({ api_keys: [firstKey, secondKey] }),
      };
    },
  });
});
afterEach(() => rig.expectBalancedBooks());
afterAll(async () => {
  await rig.stop();
  await upstream.stop();
});

const hello = (model: string, more: object = {}): object => ({
  model,
  messages: [{ role: "user", content: "Hello!" }],
  ...more,
});

const json = (status: number, body: unknown): Response => Response.json(body, { status });
const refusalNaming = (key: string): object => ({
  error: {
    message: `Incorrect API key provided: ${key}.`,
    type: "invalid_request_error",
    code: "invalid_api_key",
    param: null,
  },
});
const events = (...data: string[]): Response =>
  new Response(data.map((item) => `data: ${item}\n\n`).join(""), { headers: { "content-type": "text/event-stream" } });

/** Fails if a key is in an answer's body or headers. */
async function expectNoKey(answer: Response): Promise<string> {
  const text = await answer.text();
  const seen = `${text}\n${JSON.stringify(Object.fromEntries(answer.headers))}`;
  expect(seen).not.toContain(firstKey);
  expect(seen).not.toContain(secondKey);
  return text;
}

describe("an upstream that repeats the key", () => {
  test.each([400, 422, 500])("in an error with status %d: relayed without it", async (status) => {
    upstream.answerWith(({ key }) => json(status, refusalNaming(key)));
    const caller = await rig.caller();
    const answer = await caller.chat(hello("double/model"));
    expect([firstKey, secondKey]).toContain(upstream.requests[0]?.key ?? "none");
    expect(answer.status).toBe(status);
    expect(JSON.parse(await expectNoKey(answer))).toEqual(refusalNaming("[redacted]"));
  });

  test("in an error under status 200", async () => {
    upstream.answerWith(({ key }) => json(200, refusalNaming(key)));
    const caller = await rig.caller();
    const answer = await caller.chat(hello("single/model"));
    expect(JSON.parse(await expectNoKey(answer))).toEqual(refusalNaming("[redacted]"));
    expect(await caller.closed()).toBe(0n);
  });

  test("in headers, a redirection or a page that is no JSON", async () => {
    const caller = await rig.caller();
    upstream.answerWith(
      ({ key }) => new Response(null, { status: 307, headers: { location: `/?key=${key}`, "x-key": key } }),
    );
    const redirection = await caller.chat(hello("single/model"));
    expect(redirection.status).toBe(502);
    await expectNoKey(redirection);
    expect(upstream.requests).toHaveLength(1);

    upstream.answerWith(({ key }) => new Response(`no such key: ${key}`, { status: 200, headers: { "x-debug": key } }));
    const page = await caller.chat(hello("single/model"));
    expect(page.status).toBe(502);
    await expectNoKey(page);
  });

  test("in an error event of a stream", async () => {
    const word = JSON.stringify({ choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: null }] });
    upstream.answerWith(({ key }) => events(word, JSON.stringify(refusalNaming(key))));
    const caller = await rig.caller();
    const answer = await caller.chat(hello("single/model", { stream: true }));
    const shown = eventsOf(await expectNoKey(answer));
    expect(shown[0]).toBe(`data: ${word}\n\n`);
    expect(shown[1]).toBe(`data: ${JSON.stringify(refusalNaming("[redacted]"))}\n\n`);
  });

  const escapes: Record<string, (key: string) => string> = {
    "JSON's": (key) => key.replaceAll(/[a-z-]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`),
    "a URL's": (key) => key.replaceAll("-", "%2D"),
    "HTML's": (key) => key.replaceAll("-", "&#45;"),
    base64: (key) => Buffer.from(`Bearer ${key}`).toString("base64"),
  };
  const paths = [chatPath, messagesPath, responsesPath];
  test.each(
    Object.keys(escapes).flatMap((name) =>
      paths.flatMap((path) => [false, true].map((stream) => ({ name, path, stream }))),
    ),
  )("in $name escapes, at $path, streamed: $stream", async ({ name, path, stream }) => {
    const caller = await rig.caller();
    const escaped = (key: string): string =>
      JSON.stringify(refusalNaming("KEY")).replace("KEY", () => escapes[name]?.(key) ?? key);
    const word = JSON.stringify({ choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: null }] });
    upstream.answerWith(({ key }) =>
      stream
        ? events(word, escaped(key))
        : new Response(escaped(key), { status: 400, headers: { "content-type": "application/json" } }),
    );
    const body = path === responsesPath ? { input: "hi" } : { messages: [{ role: "user", content: "hi" }] };
    const answer = await post(rig, path, caller.token, { model: "chats/model", max_tokens: 50, stream, ...body });
    const text = await expectNoKey(answer);
    expect(text).toContain("[redacted]");
    // Decoded as a client does it, too.
    expect(
      text.replaceAll(/\\u00([\da-f]{2})/g, (_, code: string) => String.fromCharCode(parseInt(code, 16))),
    ).not.toContain(firstKey);
  });

  test("nothing of it, nor of the conversation, is in the log", async () => {
    const caller = await rig.caller();
    upstream.answerWith(({ key }) => json(401, refusalNaming(key)));
    await (
      await caller.chat({ model: "single/model", messages: [{ role: "user", content: "a private matter" }] })
    ).text();
    await rig.expectBalancedBooks();
    // The lines of this whole file, down to the most talkative level, once the last call's is written.
    await until("the last call's log line", () => rig.gateway.logLines().some((line) => line["user"] === caller.user));
    const log = rig.gateway.log();
    for (const secret of [firstKey, secondKey, caller.token, "a private matter", "Incorrect API key"]) {
      expect(log).not.toContain(secret);
    }
  });
});

describe("a quota that is used up", () => {
  const quotaGone = {
    error: {
      message: "You exceeded your current quota.",
      type: "insufficient_quota",
      code: "insufficient_quota",
      param: null,
    },
  };

  test("is not requested again with the same key, whatever delay it contains", async () => {
    upstream.answerWith(() => Response.json(quotaGone, { status: 429, headers: { "retry-after": "0" } }));
    const caller = await rig.caller();
    const answer = await caller.chat(hello("spent/model"));
    expect(answer.status).toBe(429);
    expect(await answer.json()).toEqual(quotaGone);
    expect(upstream.requests).toHaveLength(1);
  });

  test("lets another key answer, now and for the next calls", async () => {
    const answered = {
      choices: [{ message: { content: "Hi" } }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    };
    upstream.answerWith(({ key }) => (key === firstKey ? json(429, quotaGone) : json(200, answered)));
    for (let call = 0; call < 3; call += 1) {
      const caller = await rig.caller();
      const answer = await caller.chat(hello("spare/model"));
      expect(answer.status).toBe(200);
      expect(await answer.json()).toEqual(answered);
      expect(await caller.closed()).toBe(3_000n);
    }
    expect(upstream.requests.filter((request) => request.key === firstKey)).toHaveLength(1);
  });
});
