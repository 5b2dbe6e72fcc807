/** The options of crawls that a model makes of a prompt: their preview, a crawl with them, and their cost. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Firecrawl } from "@mendable/firecrawl-js";
import {
  type Caller,
  creditsText,
  post,
  type Rig,
  type ScriptedUpstream,
  startRig,
  startScriptedUpstream,
  until,
} from "../kit/index.ts";

let rig: Rig;
let site: Bun.Server<undefined>;
let upstream: ScriptedUpstream;
/** What the model answers; undefined for a failure. */
let answer: object | undefined;
beforeAll(async () => {
  const paths = ["/blog/1", "/blog/2", "/docs/1"];
  const links = paths.map((path) => `<a href="${path}">${path}</a>`).join("");
  site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) =>
      new Response(`<!doctype html><title>${url}</title><p>Page ${url}</p>${links}`, {
        headers: { "content-type": "text/html" },
      }),
  });
  upstream = startScriptedUpstream();
  upstream.answerWith(() => {
    if (answer === undefined) return Response.json({ error: { message: "not today" } }, { status: 400 });
    const message = { role: "assistant", content: JSON.stringify(answer) };
    const usage = { prompt_tokens: 300, completion_tokens: 20, total_tokens: 320 };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    return Response.json({ id: "c", object: "chat.completion", choices, usage });
  });
  rig = await startRig({
    providers: () => ({ openai: { kind: "openai", base_url: upstream.url, api_key: "unused" } }),
    config: { web: { allow_private_hosts: ["127.0.0.1:*"], model: "openai/gpt-prompts" } },
  });
});
afterAll(async () => {
  await rig.stop();
  await upstream.stop();
  await site.stop(true);
});

const start = (): string => `http://127.0.0.1:${site.port}/`;

interface Job {
  status: string;
  creditsUsed: number;
  data: { metadata: { url: string } }[];
}

async function ended({ token }: Caller, id: string): Promise<Job> {
  const headers = { authorization: `Bearer ${token}` };
  return until(
    "the crawl has ended",
    async () => {
      const job = (await (await fetch(`${rig.gateway.url}/v2/crawl/${id}`, { headers })).json()) as Job;
      return job.status !== "scraping" && job;
    },
    60_000,
  );
}

test("a preview has the model's options, and costs its call alone", async () => {
  const caller = await rig.caller();
  answer = { includePaths: ["^/blog/"], limit: 5, webhook: "https://evil.test/" };
  const client = new Firecrawl({ apiUrl: rig.gateway.url, apiKey: caller.token });
  const preview = await client.crawlParamsPreview(start(), "Only the blog.");
  expect(preview).toMatchObject({ url: start(), includePaths: ["^/blog/"], limit: 5 });
  expect(preview["warning"]).toContain("webhook");
  expect(preview).not.toHaveProperty("webhook");
  expect(creditsText(await caller.closed())).toBe("0.00034");
});

test("a crawl with a prompt has them too, unless the request states others", async () => {
  const caller = await rig.caller();
  answer = { includePaths: ["^/blog/"], limit: 1 };
  const body = { url: start(), prompt: "Only the blog.", limit: 50, sitemap: "skip" };
  const retry = { headers: { "idempotency-key": "prompted" } };
  const started = (await (await post(rig, "/v2/crawl", caller.token, body, retry)).json()) as { id: string };
  const asked = upstream.requests.length;
  const again = (await (await post(rig, "/v2/crawl", caller.token, body, retry)).json()) as { id: string };
  expect([again.id, upstream.requests.length]).toEqual([started.id, asked]);
  const job = await ended(caller, started.id);
  expect(job.data.map(({ metadata }) => new URL(metadata.url).pathname).toSorted()).toEqual(["/blog/1", "/blog/2"]);
  expect(job.creditsUsed).toBe(Number(creditsText(await caller.closed())));
});

test("the queue has no pages of jobs that have ended, and the moment of the last one", async () => {
  const caller = await rig.caller();
  const client = new Firecrawl({ apiUrl: rig.gateway.url, apiKey: caller.token });
  const idle = { success: true, jobsInQueue: 0, activeJobsInQueue: 0, waitingJobsInQueue: 0 };
  expect(await client.getQueueStatus()).toMatchObject({ ...idle, mostRecentSuccess: null });
  const before = Date.now();
  await client.crawl(start(), { limit: 1, pollInterval: 1 });
  const { mostRecentSuccess, ...queue } = await client.getQueueStatus();
  expect(queue).toMatchObject(idle);
  expect(Date.parse(mostRecentSuccess ?? "")).toBeWithin(before, Date.now() + 1);
});

test("a prompt that the model can't answer, or that nobody can pay, starts nothing", async () => {
  const caller = await rig.caller();
  answer = undefined;
  const body = { url: start(), prompt: "Only the blog." };
  const retry = { headers: { "idempotency-key": "failing" } };
  expect((await post(rig, "/v2/crawl", caller.token, body, retry)).status).toBe(502);
  const poor = await rig.gateway.token({ user: "poor", credits: 0n });
  expect((await post(rig, "/v2/crawl", poor, body)).status).toBe(402);
  expect((await post(rig, "/v2/crawl/params-preview", poor, body)).status).toBe(402);
  const headers = { authorization: `Bearer ${caller.token}` };
  expect(await (await fetch(`${rig.gateway.url}/v2/crawl/active`, { headers })).json()).toMatchObject({ crawls: [] });
  expect(await caller.closed()).toBe(0n);
  // The key is free for another attempt.
  answer = { limit: 1 };
  const started = await post(rig, "/v2/crawl", caller.token, body, retry);
  expect(started.status).toBe(200);
  await ended(caller, ((await started.json()) as { id: string }).id);
});
