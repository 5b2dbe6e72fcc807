/** A user who sends as much as possible does not hold up another one: pages taken apart, and pages of the browser. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { besideOthers, expectShare } from "../kit/slowness.ts";
import { type Caller, expectSpent, hasChromium, oneCredit, post, type Rig, startRig } from "../kit/index.ts";

const PAGE = oneCredit / 1_000n;

/** Within their bounds of complexity: a page of them takes a second. */
const slowSelectors = Array.from({ length: 5 }, () => "p:not(:nth-last-child(2n+1 of p ~ p ~ p)):has(~ p ~ p ~ i)");

const pages: Readonly<Record<string, string>> = {
  "/one": "<title>One</title><p>One paragraph.</p>",
  "/many": "<p>one</p>".repeat(30_000),
};

let site: Bun.Server<undefined>;
let rig: Rig;
beforeAll(async () => {
  site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) => new Response(pages[new URL(url).pathname], { headers: { "content-type": "text/html" } }),
  });
  rig = await startRig({ config: { web: { allow_private_hosts: [site.url.host] } } });
});
afterAll(async () => {
  await rig.stop();
  await site.stop(true);
});

interface Scraped {
  status: number;
  code: string | undefined;
  retryAfter: string | null;
  ms: number;
}

async function scrape(caller: Caller, path: string, options: object = {}, signal?: AbortSignal): Promise<Scraped> {
  const startedMs = performance.now();
  const body = { url: new URL(path, site.url).href, maxAge: 0, ...options };
  const answer = await post(rig, "/v2/scrape", caller.token, body, { ...(signal && { signal }), msMax: 150_000 });
  const { code } = (await answer.json()) as { code?: string };
  return {
    status: answer.status,
    code,
    retryAfter: answer.headers.get("retry-after"),
    ms: performance.now() - startedMs,
  };
}

/** Waiting for the other user's pages would be a minute. */
async function expectInTime(queue: string, aloneMs: number, ask: () => Promise<Scraped>): Promise<void> {
  const { result, slow } = await besideOthers(ask);
  expect(result).toMatchObject({ status: 200 });
  expectShare({ queue, aloneMs, besideMs: result.ms, slow });
}

/** Sends as many requests as given at a time, again and again, until it is stopped. */
function flood(many: number, send: (signal: AbortSignal) => Promise<Scraped>): { stop: () => Promise<Scraped[]> } {
  const over = new AbortController();
  const answers: Scraped[] = [];
  const senders = Array.from({ length: many }, async () => {
    while (!over.signal.aborted) {
      const answer = await send(over.signal).catch(() => undefined);
      if (answer !== undefined) answers.push(answer);
      if (answer?.status === 429) await Bun.sleep(200);
    }
  });
  return {
    async stop() {
      over.abort();
      await Promise.all(senders);
      return answers;
    },
  };
}

describe("pages taken apart", () => {
  test("beside a user whose selectors take long, another's page comes in time", async () => {
    const [hostile, caller] = [await rig.caller(), await rig.caller()];
    await scrape(caller, "/one");
    const alone = await scrape(caller, "/one");
    const options = { includeTags: slowSelectors, timeout: 60_000 };
    const full = flood(48, (signal) => scrape(hostile, "/many", options, signal));
    await refused(hostile, options);
    for (let time = 0; time < 3; time += 1)
      await expectInTime("pages taken apart", alone.ms, () => scrape(caller, "/one"));
    const answers = await full.stop();
    const codes = new Set(answers.map(({ status, code }) => `${status} ${code}`));
    expect(codes).toContain("429 rate_limit_exceeded");
    expect(answers.find(({ status }) => status === 429)?.retryAfter).toBe("5");
  });

  /** Waits until the queue of the user is full. */
  async function refused(hostile: Caller, options: object): Promise<void> {
    for (;;) {
      const { status } = await scrape(hostile, "/many", { ...options, timeout: 1_000 });
      if (status === 429) return;
    }
  }

  test("selectors that are too complex are refused, and cost nothing", async () => {
    const caller = await rig.caller();
    const many = Array.from({ length: 100 }, () => slowSelectors[0]);
    expect(await scrape(caller, "/one", { includeTags: many })).toMatchObject({ status: 422, code: "BAD_REQUEST" });
    expect(await scrape(caller, "/one", { excludeTags: many })).toMatchObject({ status: 422, code: "BAD_REQUEST" });
    await expectSpent(rig, caller, 0n);
  });

  test("selectors that take longer than a second on a page end it, and cost the page", async () => {
    const caller = await rig.caller();
    expect(await scrape(caller, "/many", { includeTags: slowSelectors })).toMatchObject({
      status: 422,
      code: "SELECTORS_TOO_SLOW",
    });
    await expectSpent(rig, caller, PAGE);
  });

  test("on a small page the same selectors are fast", async () => {
    const caller = await rig.caller();
    expect(await scrape(caller, "/one", { includeTags: ["p", ...slowSelectors] })).toMatchObject({ status: 200 });
  });
});

describe.skipIf(!hasChromium)("pages of the browser", () => {
  const wait = { type: "wait", milliseconds: 60_000 };
  const actions = [wait, wait, wait, wait];

  test("beside a user whose actions wait, another's screenshot comes in time", async () => {
    const [hostile, caller] = [await rig.caller(), await rig.caller()];
    const options = { formats: ["screenshot"] };
    await scrape(caller, "/one", options);
    const alone = await scrape(caller, "/one", options);
    const full = flood(48, (signal) => scrape(hostile, "/one", { actions, timeout: 120_000 }, signal));
    while ((await scrape(hostile, "/one", { actions, timeout: 1_000 })).status !== 429);
    await expectInTime("pages of the browser", alone.ms, () => scrape(caller, "/one", options));
    expect((await full.stop()).some(({ code }) => code === "rate_limit_exceeded")).toBe(true);
  });

  test("actions that outlast their time cost the page, and a time that is over before there is a page costs nothing", async () => {
    const [hostile, caller] = [await rig.caller(), await rig.caller()];
    const running = [1, 2, 3].map(() => scrape(hostile, "/one", { actions, timeout: 15_000 }));
    const waiting = scrape(hostile, "/one", { actions, timeout: 5_000 });
    expect(await waiting).toMatchObject({ status: 503, code: "web_busy" });
    for (const each of await Promise.all(running)) expect(each).toMatchObject({ status: 408, code: "SCRAPE_TIMEOUT" });
    await expectSpent(rig, hostile, 3n * PAGE);
    expect(await scrape(caller, "/one", { actions, timeout: 3_000 })).toMatchObject({ status: 408 });
    await expectSpent(rig, caller, 0n);
  });
});
