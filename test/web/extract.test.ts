/** Extractions: data of several pages, as jobs that are charged page by page and question by question. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Firecrawl } from "@mendable/firecrawl-js";
import FirecrawlApp from "firecrawl-v1";
import { type Caller, creditsText, oneCredit, post, type Rig, startRig, until } from "../kit/index.ts";

let rig: Rig;
let site: Bun.Server<undefined>;
const read: string[] = [];
/** Receives messages. */
let hook: Bun.Server<undefined>;
const messages: Record<string, unknown>[] = [];
beforeAll(async () => {
  const text = "The tide comes in twice a day, and twice a day it leaves the harbour to the gulls. ".repeat(3);
  const names = ["/docs/tides", "/docs/gulls", "/docs/secret", "/docs/file.png", "/about"];
  const links = names.map((path) => `<a href="${path}">${path}</a>`).join("");
  site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch({ url }) {
      const { pathname } = new URL(url);
      if (pathname === "/robots.txt") return new Response("User-agent: *\nDisallow: /docs/secret");
      read.push(pathname);
      if (pathname === "/slow") await Bun.sleep(20_000);
      if (pathname === "/broken") return new Response("", { status: 500 });
      if (pathname === "/empty") return html("");
      return html(`<title>${pathname}</title><main><h1>${pathname}</h1><p>${text}</p>${links}</main>`);
    },
  });
  hook = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      messages.push((await request.json()) as Record<string, unknown>);
      return new Response();
    },
  });
  const crawl = { pages_per_second: 0, connections_per_host: 8, per_user: 5 };
  const web = { allow_private_hosts: ["127.0.0.1:*"], model: "openai/gpt-extract", crawl };
  rig = await startRig({ config: { web } });
});
afterAll(async () => {
  await rig.stop();
  await site.stop(true);
  await hook.stop(true);
});

function html(body: string): Response {
  return new Response(`<!doctype html>${body}`, { headers: { "content-type": "text/html" } });
}

const address = (path: string): string => `http://127.0.0.1:${site.port}${path}`;
const schema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] };

interface Extraction {
  success: boolean;
  status: string;
  data: unknown;
  sources?: object;
  warning?: string;
  error?: string;
  creditsUsed: number;
}

async function ask(caller: Caller, path: string, method = "GET"): Promise<{ status: number; body: unknown }> {
  const headers = { authorization: `Bearer ${caller.token}` };
  const answer = await fetch(`${rig.gateway.url}${path}`, { method, headers });
  return { status: answer.status, body: await answer.json() };
}

async function start(caller: Caller, body: object): Promise<string> {
  const answer = await post(rig, "/v2/extract", caller.token, body);
  const { id, error } = (await answer.json()) as { id?: string; error?: string };
  if (id === undefined) throw new Error(error);
  return id;
}

/** Waits for the end. */
function ended(caller: Caller, id: string): Promise<Extraction> {
  return until(
    "the extraction has ended",
    async () => {
      const body = (await ask(caller, `/v2/extract/${id}`)).body as Extraction;
      return body.status !== "processing" && body;
    },
    60_000,
  );
}

async function operationsOf(caller: Caller, id: string): Promise<string[]> {
  const { body } = await ask(caller, `/v1/generations?parent_id=${id}`);
  return (body as { data: { operation: string }[] }).data.map(({ operation }) => operation).toSorted();
}

const questions = () => rig.received("gpt-extract");

test("several pages make one result, charged as the pages and the model's call", async () => {
  const caller = await rig.caller();
  const before = questions().length;
  const id = await start(caller, {
    urls: [address("/a"), address("/b"), address("/broken")],
    schema,
    prompt: "Titles.",
  });
  const job = await ended(caller, id);
  expect(job).toMatchObject({ success: true, status: "completed", data: { title: expect.any(String) as string } });
  expect(job.warning).toBe("1 of the addresses could not be read.");
  const [question, ...others] = questions().slice(before);
  expect(others).toEqual([]);
  for (const part of [address("/a"), address("/b"), "Titles.", "twice a day"]) expect(question?.body).toContain(part);
  expect(job.creditsUsed).toBe(Number(creditsText(await caller.closed())));
  expect(job.creditsUsed).toBeGreaterThan(0.002);
  expect(await operationsOf(caller, id)).toEqual(["chat", "crawl", "crawl", "crawl"]);
});

test("a site stands for the pages below it that its robots.txt allows, and costs a map", async () => {
  const caller = await rig.caller();
  read.length = 0;
  const id = await start(caller, { urls: [address("/docs/*")], prompt: "What the tides do." });
  const job = await ended(caller, id);
  expect(job.status).toBe("completed");
  expect(new Set(read)).toEqual(new Set(["/docs/", "/docs/tides", "/docs/gulls", "/sitemap.xml"]));
  expect(await operationsOf(caller, id)).toEqual(["chat", "crawl", "crawl", "crawl", "map"]);
  expect(job.creditsUsed).toBe(Number(creditsText(await caller.closed())));
});

test("sources are asked for, and those of no page left out", async () => {
  const caller = await rig.caller();
  const before = questions().length;
  const job = await ended(caller, await start(caller, { urls: [address("/a")], schema, showSources: true }));
  expect(job).toMatchObject({ status: "completed", data: { title: expect.any(String) as string }, sources: {} });
  expect(questions()[before]?.body).toContain('"sources"');
});

describe("what can't be read", () => {
  test("ends as failed, and the model is not asked", async () => {
    const caller = await rig.caller();
    const before = questions().length;
    const job = await ended(caller, await start(caller, { urls: [address("/broken"), address("/empty")], schema }));
    expect(job).toMatchObject({ success: false, status: "failed", data: [] });
    expect(job.error).toContain("None of the pages");
    expect(questions().length).toBe(before);
  });

  test.each([
    ["no address", { urls: [], schema }, "urls"],
    ["neither prompt nor schema", { urls: ["https://a.org/"] }, "prompt"],
    ["addresses of no page", { urls: ["ftp://x"], schema, ignoreInvalidURLs: false }, "urls"],
    ["options of a page", { urls: ["https://a.org/"], schema, scrapeOptions: { waitFor: 90_000 } }, "scrapeOptions."],
    ["a search for pages", { urls: ["https://a.org/"], schema, enableWebSearch: true }, "enableWebSearch"],
  ])("%s is refused", async (_, body, member) => {
    const caller = await rig.caller();
    const answer = await post(rig, "/v2/extract", caller.token, body);
    expect([answer.status, (await answer.json()) as object]).toEqual([
      422,
      expect.objectContaining({ success: false, error: expect.stringContaining(member) as string }) as object,
    ]);
  });

  test("a private address is read by nobody", async () => {
    const caller = await rig.caller();
    const job = await ended(caller, await start(caller, { urls: ["http://169.254.169.254/latest/"], schema }));
    expect([job.status, await caller.closed()]).toEqual(["failed", 0n]);
  });
});

test("an extraction is its caller's alone, is cancelled, and costs nothing then", async () => {
  const [caller, other] = [await rig.caller(), await rig.caller()];
  const id = await start(caller, { urls: [address("/slow")], schema });
  await until("its page is being read", () => read.includes("/slow"));
  for (const [method, path] of [
    ["GET", `/v2/extract/${id}`],
    ["DELETE", `/v2/extract/${id}`],
    ["GET", `/v1/extract/${id}`],
    ["DELETE", `/v1/extract/${id}`],
  ] as const)
    expect((await ask(other, path, method)).status).toBe(404);
  // It is no crawl.
  for (const path of [`/v2/crawl/${id}`, `/v1/crawl/${id}`, `/v2/batch/scrape/${id}`])
    expect((await ask(caller, path)).status).toBe(404);
  expect((await ask(caller, `/v2/extract/${id}`, "DELETE")).body).toEqual({ success: true, status: "cancelled" });
  expect((await ask(caller, `/v2/extract/${id}`)).body).toMatchObject({ status: "cancelled", data: [] });
  expect(await caller.closed()).toBe(0n);
});

test("without credits for the model it ends as failed, with the pages charged", async () => {
  const token = await rig.gateway.token({ user: "short", credits: oneCredit / 500n });
  const caller = { token } as Caller;
  const job = await ended(
    caller,
    await start(caller, { urls: [address("/a"), address("/b")], schema, scrapeOptions: { maxAge: 0 } }),
  );
  expect(job).toMatchObject({ status: "failed", success: false });
  expect(job.error).toContain("credits");
});

test("messages have the start, and the data at the end", async () => {
  const caller = await rig.caller();
  const headers = { authorization: `Bearer ${caller.token}` };
  await fetch(`${rig.gateway.url}/v1/webhooks/secret`, { method: "POST", headers });
  const id = await start(caller, { urls: [address("/a")], schema, webhook: hook.url.href });
  const job = await ended(caller, id);
  await until("the messages have arrived", () => messages.length >= 2, 60_000);
  expect(messages.map(({ type, id: of }) => [type, of])).toEqual([
    ["extract.started", id],
    ["extract.completed", id],
  ]);
  expect(messages[1]?.["data"]).toEqual([job.data]);
}, 60_000);

test("the SDKs of v2 and v1", async () => {
  const caller = await rig.caller();
  const options = { apiUrl: rig.gateway.url, apiKey: caller.token };
  const urls = [address("/a"), address("/b")];
  // oxlint-disable-next-line typescript/no-deprecated -- clients use it all the same
  const job = await new Firecrawl(options).extract({ urls, schema, prompt: "Titles.", pollInterval: 1, timeout: 60 });
  expect(job).toMatchObject({ success: true, status: "completed", data: { title: expect.any(String) as string } });
  const old = await new FirecrawlApp(options).extract(urls, { prompt: "Titles.", schema });
  expect(old).toMatchObject({ success: true, data: { title: expect.any(String) as string } });
}, 60_000);
