/** The gateway's own tools over MCP, with the official clients of both eras, over HTTP and stdio. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { type Caller, oneCredit, type Rig, startRig, until } from "../kit/index.ts";
import { findProgram } from "../kit/program.ts";
import { startTarget, type Target } from "../web/target.ts";

const PAGE = oneCredit / 1_000n;

let target: Target;
let rig: Rig;
let caller: Caller;
beforeAll(async () => {
  target = startTarget();
  rig = await startRig({
    config: {
      web: { allow_private_hosts: [target.host, "127.0.0.1:*"] },
      mcp: { models: { image: "openai/gpt-image-1", chat: "openai/gpt-5-mini" } },
    },
  });
  caller = await rig.caller();
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
  await target.stop();
});

const modern: ClientOptions = { versionNegotiation: { mode: { pin: "2026-07-28" } } };
const eras: [string, ClientOptions][] = [
  ["2025-11-25", {}],
  ["2026-07-28", modern],
];

const info = { name: "test", version: "1" };

async function connect(options: ClientOptions, token = caller.token, path = "/mcp"): Promise<Client> {
  const client = new Client(info, options);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(rig.gateway.url + path), { requestInit }));
  return client;
}

async function connectStdio(options: ClientOptions, token = caller.token): Promise<Client> {
  const { command, variables } = await findProgram();
  const client = new Client(info, options);
  const [program = "", ...args] = command;
  const env = { ...variables, PATH: process.env["PATH"] ?? "", TOLLGATE_URL: rig.gateway.url, TOLLGATE_TOKEN: token };
  await client.connect(new StdioClientTransport({ command: program, args: [...args, "mcp"], env }));
  return client;
}

const textIn = ({ content }: { content: unknown }): string =>
  (content as { type: string; text?: string }[]).map(({ text = "" }) => text).join("");

describe.each(eras)("a client of %s", (revision, options) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect(options);
  });
  afterAll(() => client.close());

  test("finds the tools, with schemas that it can use", async () => {
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      "web_search",
      "web_scrape",
      "web_map",
      "web_crawl",
      "image_generate",
      "image_edit",
      "speech_generate",
      "audio_transcribe",
      "video_generate",
      "embed",
      "chat",
      "models_list",
      "budget_get",
      "job_get",
    ]);
    const required = Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema["required"]]));
    // A model with a default need not be named.
    expect(required).toMatchObject({ image_generate: ["prompt"], speech_generate: ["model", "input"] });
  });

  test("reads a page for the price of a page", async () => {
    const own = await rig.caller();
    const reader = await connect(options, own.token);
    const result = await reader.callTool({ name: "web_scrape", arguments: { url: target.url("/beach") } });
    expect(textIn(result)).toContain("gulls");
    expect(result.structuredContent).toMatchObject({ success: true });
    expect(await own.closed()).toBe(PAGE);
    await reader.close();
  });

  test("crawls, with progress", async () => {
    const seen: number[] = [];
    const result = await client.callTool(
      { name: "web_crawl", arguments: { url: target.url("/harbour"), limit: 2 } },
      { onprogress: ({ progress }) => void seen.push(progress) },
    );
    expect(result.structuredContent).toMatchObject({ status: "completed" });
    expect(textIn(result)).toContain("completed: ");
  });

  test("gets images as images, by the default model", async () => {
    const result = await client.callTool({ name: "image_generate", arguments: { prompt: "a cat" } });
    const [image] = result.content as { type: string; mimeType?: string; data?: string }[];
    expect(image).toMatchObject({ type: "image", mimeType: "image/png" });
    expect(JSON.stringify(result.structuredContent)).not.toContain(image?.data?.slice(0, 40) ?? "none");
  });

  test("asks a model, and is told what a refused call needs", async () => {
    const messages = [{ role: "user", content: "hello" }];
    const { structuredContent } = await client.callTool({ name: "chat", arguments: { messages } });
    expect(structuredContent).toMatchObject({ object: "chat.completion" });
    const poor = await connect(options, await rig.gateway.token({ user: `poor-${revision}`, credits: 0n }));
    const refused = await poor.callTool({ name: "chat", arguments: { messages } });
    expect(refused.isError).toBe(true);
    expect(textIn(refused)).toContain("credits");
    await poor.close();
  });

  test("is told of arguments that a route refuses", async () => {
    const result = await client.callTool({ name: "web_scrape", arguments: { url: "http://10.0.0.1/" } });
    expect(result).toMatchObject({ isError: true, _meta: { "tollgate/error": { code: "address_refused" } } });
  });

  test("does not find what its token may not use", async () => {
    const reader = await connect(options, await rig.gateway.token({ tools: ["web_*", "!web_crawl"] }));
    const { tools } = await reader.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["web_search", "web_scrape", "web_map"]);
    const denied = reader.callTool({ name: "web_crawl", arguments: { url: target.url("/harbour") } });
    expect(await denied.catch((thrown: unknown) => String(thrown))).toContain("no such tool");
    await reader.close();
  });

  test("over stdio", async () => {
    const piped = await connectStdio(options);
    const { tools } = await piped.listTools();
    expect(tools).toHaveLength(14);
    const { structuredContent } = await piped.callTool({ name: "budget_get", arguments: {} });
    expect(structuredContent).toMatchObject({ object: "user.info" });
    await piped.close();
  });

  test("ends its call by leaving, which costs what was read", async () => {
    const own = await rig.caller();
    const leaving = await connect(options, own.token);
    const abort = new AbortController();
    const slow = { name: "web_crawl", arguments: { url: target.url("/harbour"), limit: 50, delay: 5 } };
    const answer = leaving.callTool(slow, { signal: abort.signal }).catch(() => "left");
    const active = async () => {
      const answered = await fetch(`${rig.gateway.url}/v2/crawl/active`, {
        headers: { authorization: `Bearer ${own.token}` },
      });
      return ((await answered.json()) as { crawls: unknown[] }).crawls.length;
    };
    await until("the crawl runs", async () => (await active()) === 1);
    abort.abort();
    expect(await answer).toBe("left");
    await until("the crawl is cancelled", async () => (await active()) === 0);
    await leaving.close();
  });
});

describe("without a client", () => {
  const post = (headers: Record<string, string>, body: unknown = { jsonrpc: "2.0", id: 1, method: "ping" }) =>
    fetch(`${rig.gateway.url}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const bearer = () => ({ authorization: `Bearer ${caller.token}` });

  test("401 names the metadata by the address for callers", async () => {
    const refused = await post({ authorization: "Bearer of-somebody-else" });
    expect(refused.status).toBe(401);
    const challenge = refused.headers.get("www-authenticate") ?? "";
    const metadata = /^Bearer resource_metadata="([^"]+)"$/.exec(challenge)?.[1] ?? "";
    expect(metadata).toBe(`${rig.gateway.url}/.well-known/oauth-protected-resource/mcp`);
    expect(await (await fetch(metadata)).json()).toEqual({
      resource: `${rig.gateway.url}/mcp`,
      resource_name: "Tollgate",
      bearer_methods_supported: ["header"],
    });
    expect(await refused.json()).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: 401 } });
    expect((await fetch(`${rig.gateway.url}/.well-known/oauth-protected-resource/v1/chat`)).status).toBe(404);
  });

  test.each<[string, Record<string, string>, unknown, number]>([
    ["a page from elsewhere", { origin: "https://evil.example" }, undefined, 403],
    ["a name that leads here", { host: "evil.example" }, undefined, 403],
    ["a form", { "content-type": "text/plain" }, undefined, 415],
    ["no JSON", {}, "{", 400],
    ["a batch", {}, [{ jsonrpc: "2.0", id: 1, method: "ping" }], 400],
    ["brackets without end", {}, `{"jsonrpc":${"[".repeat(100_000)}`, 400],
  ])("refuses %s", async (_what, headers, body, status) => {
    const refused = await post({ ...bearer(), ...headers }, body);
    expect(refused.status).toBe(status);
    expect(await refused.json()).toMatchObject({ jsonrpc: "2.0", error: {} });
  });

  test("has streams for POST alone", async () => {
    const get = await fetch(`${rig.gateway.url}/mcp`, { headers: { ...bearer(), accept: "text/event-stream" } });
    expect(get.status).toBe(405);
  });

  test("another user's job is as if it were not there", async () => {
    const ask = async (token: string, body: object) =>
      (await (
        await fetch(`${rig.gateway.url}/v1/tools/web_crawl`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body: JSON.stringify(body),
        })
      ).json()) as { structuredContent: { id: string } };
    const { structuredContent } = await ask(caller.token, { url: target.url("/beach"), limit: 1 });
    const stranger = await connect({}, (await rig.caller()).token);
    const result = await stranger.callTool({ name: "job_get", arguments: { id: structuredContent.id } });
    expect(result).toMatchObject({ isError: true, _meta: { "tollgate/error": { code: "object_not_found" } } });
    await stranger.close();
  });
});

test("what people do not see in a page is removed", async () => {
  const client = await connect(modern);
  const page = await client.callTool({ name: "web_scrape", arguments: { url: target.url("/hidden") } });
  const crawl = await client.callTool({ name: "web_crawl", arguments: { url: target.url("/hidden"), limit: 1 } });
  for (const result of [page, crawl]) {
    expect(textIn(result)).toContain("The tide of the open sea");
    expect(JSON.stringify(result)).not.toMatch(/[\u200B\u202E\u{E0041}]/u);
  }
  await client.close();
});
