/**
 * Statements that throw at once, whatever timer, job, sweep or observer they are of, never end the process. The gateway is busy with
 * one of each kind of work that outlasts a request.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  chatPath,
  type Gateway,
  responsesPath,
  type ScriptedUpstream,
  startGateway,
  startScriptedUpstream,
  until,
} from "../kit/index.ts";

const flag = join(tmpdir(), `throws-${process.pid}-${Date.now()}`);

let upstream: ScriptedUpstream;
let site: Bun.Server<undefined>;
let gateway: Gateway;
let token: string;
beforeAll(async () => {
  upstream = startScriptedUpstream();
  site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch() {
      await Bun.sleep(200);
      const links = Array.from({ length: 20 }, () => `<a href="/${crypto.randomUUID()}">next</a>`);
      return new Response(`<p>page</p>${links.join("")}`, { headers: { "content-type": "text/html" } });
    },
  });
  const to = { base_url: upstream.url, api_key: "unused" };
  gateway = await startGateway({
    preload: join(import.meta.dir, "__fixtures__/throwing-sqlite.ts"),
    variables: { SQLITE_THROWS: flag },
    providers: { openai: { kind: "openai", ...to }, own: { kind: "openai-compatible", ...to } },
    config: {
      metrics: { port: 0 },
      web: { allow_private_hosts: [site.url.host] },
      pricing: { models: { "*/m": { input_mtok: 1, output_mtok: 1 }, "openai/sora-2": { output_video_seconds: 0.1 } } },
    },
  });
  token = await gateway.token({ user: "ann" });
});
afterAll(async () => {
  rmSync(flag, { force: true });
  await gateway.stop();
  await site.stop(true);
  await upstream.stop();
});

function send(path: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return fetch(gateway.url + path, { method: "POST", headers, body: JSON.stringify(body) });
}

const chat = { model: "own/m", max_tokens: 20, messages: [{ role: "user", content: "hi" }] };

test("they are logged, and the gateway goes on afterwards", async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  upstream.answerWith(({ method, path, body }) => {
    if (path.endsWith("/videos") && method === "POST")
      return Response.json({ id: "video_1", object: "video", status: "queued" });
    if (path.includes("/videos/")) return Response.json({ id: "video_1", object: "video", status: "in_progress" });
    const done = {
      choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 2 },
    };
    if (!body.includes('"stream":true')) {
      const message = { role: "assistant", content: "Hi." };
      return Response.json({
        id: "c",
        object: "chat.completion",
        model: "m",
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage: done.usage,
      });
    }
    const stream = async function* () {
      yield Buffer.from(`data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content: "Hi." } }] })}\n\n`);
      await ended;
      yield Buffer.from(`data: ${JSON.stringify({ id: "c", ...done })}\n\ndata: [DONE]\n\n`);
    };
    return new Response(stream(), { headers: { "content-type": "text/event-stream" } });
  });
  const stream = await send(chatPath, { ...chat, stream: true });
  expect(stream.status).toBe(200);
  const background = await send(responsesPath, {
    model: "own/m",
    input: "hi",
    background: true,
    max_output_tokens: 20,
  });
  expect(background.status).toBe(200);
  expect((await send("/v1/videos", { model: "openai/sora-2", prompt: "x", seconds: "4" })).status).toBe(200);
  expect((await send("/v2/crawl", { url: site.url.href, limit: 500 })).status).toBe(200);
  writeFileSync(flag, "");
  // Two of the minute's timers, and eight of the quarter's.
  await Bun.sleep(2_200);
  expect(gateway.process.exitCode).toBeNull();
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
  expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(503);
  expect((await send(chatPath, chat)).status).toBeGreaterThanOrEqual(500);
  rmSync(flag);
  end();
  expect(await stream.text()).toEndWith("data: [DONE]\n\n");
  await until("calls are answered again", async () => (await send(chatPath, chat)).status === 200);
  await until("it is ready again", async () => (await fetch(`${gateway.url}/health/ready`)).status === 200);
  const { id } = (await background.json()) as { id: string };
  await until("the response in the background ends", async () => {
    const answer = await fetch(`${gateway.url}${responsesPath}/${id}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return ((await answer.json()) as { status?: string }).status === "completed";
  });
});
