/** `x-tollgate-max-credits`: no call costs more than its caller allows, whatever is asked of whom. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Caller, post, type Rig, startRig } from "../kit/index.ts";
import { forms, handshake, posts } from "../errors/every-route.ts";

let rig: Rig;
let caller: Caller;
beforeAll(async () => {
  rig = await startRig({
    providers: ({ providers }) => ({
      chats: { kind: "openai-compatible", base_url: providers.openai, api_key: "key" },
    }),
    config: {
      pricing: {
        models: {
          "anthropic/*": { input_mtok: 1000, output_mtok: 2000 },
          "openai/*": { input_mtok: 100, output_mtok: 200, output_video_seconds: 0.1, requests_kcount: 1 },
          "*": { input_mtok: 100, output_mtok: 200 },
        },
      },
      routing: {
        circuits: false,
        routes: {
          "dear-first": { tiers: [[{ model: "anthropic/claude-dear" }], [{ model: "xai/grok" }]] },
          "dear-last": { tiers: [[{ model: "xai/grok+status-503" }, { model: "anthropic/claude-dear" }]] },
        },
      },
    },
  });
});
beforeEach(async () => {
  rig.simulators.clear();
  caller = await rig.caller();
});
afterEach(() => rig.expectBalancedBooks());
afterAll(() => rig.stop());

const atMost = (credits: string): { headers: Record<string, string> } => ({
  headers: { "x-tollgate-max-credits": credits },
});
const chat = (model: string, words = 3, more: object = {}): object => ({
  model,
  messages: [{ role: "user", content: `words:${words}` }],
  ...more,
});
const codeOf = async (answer: Response): Promise<unknown> => {
  const { error } = (await answer.json()) as { error: { code?: string; type?: string } };
  return [answer.status, error.code ?? error.type];
};
const bodies = (): Record<string, unknown>[] =>
  rig.simulators.requests().map(({ body }) => JSON.parse(body) as Record<string, unknown>);

describe.each([false, true])("a text, streamed: %p,", (stream) => {
  test("gets the limit of output that the credits pay for, and costs no more", async () => {
    const answer = await caller.chat(chat("mistral/m", 2_000, { stream }), atMost("0.1"));
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('"length"');
    const limit = Number(answer.headers.get("x-tollgate-max-output-tokens"));
    expect(limit).toBeGreaterThan(256);
    expect(bodies()).toMatchObject([{ max_tokens: limit }]);
    const spent = await caller.closed();
    expect(spent).toBeGreaterThan(50_000_000n);
    expect(spent).toBeLessThanOrEqual(100_000_000n);
  });

  test("that fits keeps its own limit", async () => {
    const answer = await caller.chat(chat("mistral/m", 3, { stream, max_tokens: 20 }), atMost("0.1"));
    expect([answer.status, answer.headers.get("x-tollgate-max-output-tokens")]).toEqual([200, null]);
    await answer.text();
    expect(bodies()).toMatchObject([{ max_tokens: 20 }]);
  });

  test("skips a target that does not fit, at its beginning and after a failure", async () => {
    const first = await caller.chat(chat("dear-first", 3, { stream }), atMost("0.1"));
    expect([first.status, first.headers.get("x-tollgate-provider")]).toEqual([200, "xai"]);
    await first.text();
    const later = await caller.chat(chat("dear-last", 3, { stream }), atMost("0.1"));
    expect([later.status, later.headers.get("x-tollgate-provider")]).toEqual([503, "xai"]);
    await later.text();
    expect(bodies().map(({ model }) => model)).toEqual(["grok", "grok+status-503"]);
    const both = await caller.chat(chat("dear-last", 3, { stream }), atMost("1"));
    expect([both.status, both.headers.get("x-tollgate-provider")]).toEqual([200, "anthropic"]);
    await both.text();
  });
});

test("a call without a target that fits is refused, and nobody is asked", async () => {
  expect(await codeOf(await caller.chat(chat("dear-first"), atMost("0.01")))).toEqual([402, "max_credits_exceeded"]);
  expect([bodies(), await caller.closed()]).toEqual([[], 0n]);
});

/** The code of a refusal for want of credits, in the format of the path's API. */
function codeIn(path: string): string | number {
  if (path.startsWith("/v1beta/")) return 402;
  return path.startsWith("/v1/messages") ? "billing_error" : "max_credits_exceeded";
}

const paid = posts.filter(([path]) => !/count_tokens|input_tokens|compact|files/.test(path));
test.each(paid)("%s %j costs no more", async (path, body) => {
  const refused = await post(rig, path, caller.token, body, atMost("0.0000001"));
  expect([await codeOf(refused), rig.simulators.requests().length]).toEqual([[402, codeIn(path)], 0]);
  // A job holds its credits for longer than this test takes.
  if (path.startsWith("/v1/videos")) return;
  const given = await post(rig, path, caller.token, body, atMost("5"));
  expect(Math.floor(given.status / 100)).toBe(2);
  await given.arrayBuffer();
  const spent = (await caller.books()).spent;
  expect(spent).toBeLessThanOrEqual(5_000_000_000n);
});

test.each(forms.filter(([path]) => path !== "/v1/files"))("a form for %s costs no more", async (path, fields) => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  expect(await codeOf(await post(rig, path, caller.token, form, atMost("0.0000001")))).toEqual([
    402,
    "max_credits_exceeded",
  ]);
});

test.each(["-1", "much", "1e-3", ""])("the value %p is refused", async (value) => {
  expect((await caller.chat(chat("xai/grok"), atMost(value))).status).toBe(422);
});

test("requests whose cost it would bound only in part refuse it", async () => {
  const crawl = await post(rig, "/v2/crawl", caller.token, { url: "https://example.com" }, atMost("1"));
  expect(crawl.status).toBe(422);
  const session = await fetch(`${rig.gateway.url}/v1/realtime?model=openai/gpt-realtime`, {
    headers: { authorization: `Bearer ${caller.token}`, ...handshake, ...atMost("1").headers },
  });
  expect(session.status).toBe(422);
});
