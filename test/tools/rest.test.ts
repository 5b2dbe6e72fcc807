/** The tools over plain HTTP: lists, files, jobs, refusals and money; and tasks, which need no session. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Caller, oneCredit, type Rig, startRig, until } from "../kit/index.ts";
import { startTarget, type Target } from "../web/target.ts";

const PAGE = oneCredit / 1_000n;

interface Result {
  content: { type: string; text?: string; data?: string; mimeType?: string; uri?: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}

let target: Target;
let rig: Rig;
let caller: Caller;
beforeAll(async () => {
  target = startTarget();
  rig = await startRig({ config: { web: { allow_private_hosts: [target.host, "127.0.0.1:*"] } } });
  caller = await rig.caller();
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
  await target.stop();
});

const send = (path: string, { token = caller.token, body, headers }: Sent = {}): Promise<Response> =>
  fetch(rig.gateway.url + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });

interface Sent {
  token?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

async function use(name: string, body: object, sent: Sent = {}): Promise<Result> {
  const answer = await send(`/v1/tools/${name}`, { ...sent, body });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Result;
}

const listed = async (query: string, token = caller.token) =>
  ((await (await send(`/v1/tools${query}`, { token })).json()) as { data: Record<string, unknown>[] }).data;

describe("the list", () => {
  test("has the form of each API's tools", async () => {
    const [chat] = await listed("?format=chat&q=crawl");
    expect(chat).toMatchObject({ type: "function", function: { name: "web_crawl", parameters: { type: "object" } } });
    const [responses] = await listed("?format=responses&q=crawl");
    expect(responses).toMatchObject({ type: "function", name: "web_crawl", parameters: { type: "object" } });
    const [messages] = await listed("?format=messages&q=crawl");
    expect(messages).toMatchObject({ name: "web_crawl", input_schema: { type: "object" } });
    expect(await listed("")).toHaveLength(14);
    expect((await send("/v1/tools?format=cobol")).status).toBe(422);
  });

  test("has no tool that the token may not call, and neither has the call", async () => {
    const token = await rig.gateway.token({ tools: ["budget_get"] });
    expect((await listed("", token)).map(({ name }) => name)).toEqual(["budget_get"]);
    expect((await send("/v1/tools/budget_get", { token, body: {} })).status).toBe(200);
    const denied = await send("/v1/tools/web_scrape", { token, body: { url: target.url("/beach") } });
    const unknown = await send("/v1/tools/nothing", { token, body: {} });
    expect([denied.status, unknown.status]).toEqual([404, 404]);
    expect(await denied.json()).toEqual(await unknown.json());
  });

  test("cli: a token with tools", async () => {
    const made = await rig.gateway.cli("token", "create", "--user", "agent", "--tools", "web_*,!web_crawl", "--json");
    const { token } = JSON.parse(made.stdout) as { token: string };
    expect((await listed("", token)).map(({ name }) => name)).toEqual(["web_search", "web_scrape", "web_map"]);
    const wrong = await rig.gateway.cli("token", "create", "--user", "agent", "--tools", "web search");
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toContain("--tools");
  });
});

describe("a call", () => {
  test("costs what its route costs, and is recorded as that", async () => {
    const own = await rig.caller();
    const answer = await send("/v1/tools/web_scrape", { token: own.token, body: { url: target.url("/harbour") } });
    expect(answer.headers.get("x-tollgate-credits")).toBe("0.001");
    expect(await own.closed()).toBe(PAGE);
    const id = answer.headers.get("x-request-id") ?? "";
    const generation = await send(`/v1/generations/${id}`, { token: own.token });
    expect(await generation.json()).toMatchObject({ operation: "scrape" });
  });

  test("with a retry key is charged once", async () => {
    const own = await rig.caller();
    const sent = { token: own.token, headers: { "idempotency-key": "once" } };
    const [first, second] = [
      await use("web_scrape", { url: target.url("/again") }, sent),
      await use("web_scrape", { url: target.url("/again") }, sent),
    ];
    expect(second).toEqual(first);
    expect(await own.closed()).toBe(PAGE);
  });

  test("without credits gets 402, and is not sent", async () => {
    const token = await rig.gateway.token({ user: "poor", credits: 0n });
    const refused = await send("/v1/tools/web_scrape", { token, body: { url: target.url("/poor") } });
    expect(refused.status).toBe(402);
    expect(target.requests("/poor")).toBe(0);
  });

  test.each<[string, unknown, number]>([
    ["no JSON", "{", 422],
    ["a list", [], 422],
    ["nothing", "", 422],
    ["an unknown member", { url: "x", command: "rm" }, 422],
    ["an address of the machine", { url: "http://169.254.169.254/latest/meta-data" }, 422],
  ])("with %s gets %3$d", async (_what, body, status) => {
    expect((await send("/v1/tools/web_scrape", { body })).status).toBe(status);
  });

  test("edits an image given as base64, by a data URL, or by its address", async () => {
    const { content } = await use("image_generate", { model: "openai/gpt-image-1", prompt: "a cat" });
    const data = content[0]?.data ?? "";
    for (const image of [data, `data:image/png;base64,${data}`, target.url("/picture.png"), [data, data]]) {
      const edited = await use("image_edit", { model: "openai/gpt-image-1", prompt: "a dog", image, n: 1 });
      expect(edited.content).toMatchObject([{ type: "image", mimeType: "image/png" }]);
    }
    const inside = { model: "openai/gpt-image-1", prompt: "a dog", image: "http://10.0.0.1/x.png" };
    const refused = await send("/v1/tools/image_edit", { body: inside });
    expect([refused.status, await refused.text()]).toMatchObject([422, expect.stringContaining("image: ")]);
  });

  test("speaks, and writes down", async () => {
    const spoken = await use("speech_generate", { model: "openai/gpt-4o-mini-tts", input: "hello", voice: "alloy" });
    expect(spoken.content).toMatchObject([{ type: "audio", mimeType: "audio/mpeg" }]);
    const audio = spoken.content[0]?.data;
    const written = await use("audio_transcribe", { model: "openai/gpt-4o-transcribe", audio });
    expect(written.content[0]?.text).toBeString();
  });

  test("makes a video", async () => {
    const begun = await use("video_generate", { model: "openai/sora-2", prompt: "a cat", seconds: "4" });
    const { id } = begun.structuredContent as { id: string };
    // It may have been done at once.
    if (begun.content[0]?.type === "resource_link") return;
    const done = await use("job_get", { id, wait_seconds: 45 });
    expect(done.content).toMatchObject([{ type: "resource_link", mimeType: "video/mp4" }]);
  });

  test("embeds, and lists models", async () => {
    const embedded = await use("embed", { model: "openai/text-embedding-3-small", input: ["one", "two"] });
    expect(embedded.structuredContent).toMatchObject({ object: "list", data: [{}, {}] });
    const models = await use("models_list", { q: "gpt-image", operation: "image_generation", limit: 1 });
    expect(models.structuredContent).toMatchObject({ data: [{ id: expect.stringContaining("gpt-image") as string }] });
    expect((await send("/v1/tools/models_list", { body: { limit: 0 } })).status).toBe(422);
  });
});

describe("a task", () => {
  const ask = async (method: string, params: object, { token = caller.token, name = "" } = {}) => {
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } },
    };
    const answer = await send("/mcp", {
      token,
      body: { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } },
      headers: { "mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": name },
    });
    return (await answer.json()) as { result?: Record<string, unknown>; error?: { code: number } };
  };
  const begin = async (args: object) => {
    const { result } = await ask("tools/call", { name: "web_crawl", arguments: args }, { name: "web_crawl" });
    expect(result).toMatchObject({ resultType: "task", status: "working", pollIntervalMs: 2_000 });
    return result?.["taskId"] as string;
  };

  test("is followed to its result", async () => {
    const taskId = await begin({ url: target.url("/task"), limit: 1 });
    const get = () => ask("tasks/get", { taskId }, { name: taskId });
    await until("the task is completed", async () => (await get()).result?.["status"] === "completed");
    const { result } = await get();
    expect(result).toMatchObject({ resultType: "complete", result: { structuredContent: { status: "completed" } } });
  });

  test("is its owner's", async () => {
    const taskId = await begin({ url: target.url("/mine"), limit: 1 });
    const { token } = await rig.caller();
    for (const method of ["tasks/get", "tasks/cancel", "tasks/update"]) {
      expect(await ask(method, { taskId }, { token, name: taskId })).toMatchObject({ error: { code: -32_602 } });
    }
  });

  test("is cancelled", async () => {
    const taskId = await begin({ url: target.url("/long"), limit: 50, delay: 5 });
    expect(await ask("tasks/cancel", { taskId }, { name: taskId })).toMatchObject({
      result: { resultType: "complete" },
    });
    const { result } = await ask("tasks/get", { taskId }, { name: taskId });
    expect(result).toMatchObject({ status: "cancelled" });
  });
});
