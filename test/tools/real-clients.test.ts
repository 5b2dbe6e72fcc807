/** Programs that others have made, as people use them: clients of both generations, and a server of many kinds behind the gateway. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { cleanEnvironment } from "../kit/index.ts";
import { findNpmClient } from "../kit/npm-client.ts";
import { webScene } from "../web/web-scene.ts";

const everything = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));

/** It prints the port that it was told, which is any. */
const printPort = `data:text/javascript,${encodeURIComponent(`import { Server } from "node:net";
  const { listen } = Server.prototype;
  Server.prototype.listen = function (...given) {
    this.once("listening", () => console.log("listens " + this.address().port));
    return listen.apply(this, given);
  };`)}`;

async function startEverything() {
  const child = Bun.spawn(["node", "--import", printPort, everything, "streamableHttp"], {
    env: cleanEnvironment({ PORT: "0" }),
    stdout: "pipe",
    stderr: "ignore",
  });
  const found = Promise.withResolvers<string>();
  // It ends if nobody reads its log.
  void (async () => {
    const decoder = new TextDecoder();
    let printed = "";
    for await (const bytes of child.stdout) {
      printed += decoder.decode(bytes);
      const [, port] = /listens (\d+)/.exec(printed) ?? [];
      if (port !== undefined) found.resolve(port);
    }
    found.reject(new Error("server-everything has ended"));
  })();
  return { child, url: `http://127.0.0.1:${await found.promise}/mcp` };
}

const started = await startEverything();
afterAll(() => started.child.kill());
const scene = webScene(() => ({ mcp: { servers: { everything: { url: started.url, price: { call: 0.001 } } } } }));

interface Connected {
  list: () => Promise<string[]>;
  call: (
    name: string,
    given: Record<string, unknown>,
    options?: { onprogress?: (progress: { progress: number }) => void; signal?: AbortSignal },
  ) => Promise<unknown>;
  prompt: (name: string) => Promise<unknown>;
  read: (uri: string) => Promise<unknown>;
  close: () => Promise<void>;
}

const requestInit = () => ({ headers: { authorization: `Bearer ${scene().caller.token}` } });
const endpoint = () => new URL(`${scene().rig.gateway.url}/mcp/everything`);

async function connectOld(): Promise<Connected> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(endpoint(), { requestInit: requestInit() }));
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name, given, options) => client.callTool({ name, arguments: given }, undefined, options),
    prompt: (name) => client.getPrompt({ name }),
    read: (uri) => client.readResource({ uri }),
    close: () => client.close(),
  };
}

async function connectModern(): Promise<Connected> {
  const options = { versionNegotiation: { mode: { pin: "2026-07-28" } } } as const;
  const client = new ModernClient({ name: "test", version: "1" }, options);
  await client.connect(new ModernTransport(endpoint(), { requestInit: requestInit() }));
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name, given, settings) => client.callTool({ name, arguments: given }, settings),
    prompt: (name) => client.getPrompt({ name }),
    read: (uri) => client.readResource({ uri }),
    close: () => client.close(),
  };
}

describe.each([
  ["the SDK v1", connectOld],
  ["the SDK v2", connectModern],
])("%s before server-everything over HTTP", (_name, connect) => {
  let client: Connected;
  beforeAll(async () => {
    client = await connect();
  });
  afterAll(() => client.close());

  test("lists, calls, prompts and resources", async () => {
    expect(await client.list()).toContain("echo");
    expect(await client.call("echo", { message: "Hello" })).toMatchObject({ content: [{ text: "Echo: Hello" }] });
    expect(await client.prompt("simple-prompt")).toMatchObject({ messages: [{ role: "user" }] });
    const uri = "demo://resource/dynamic/text/1";
    expect(await client.read(uri)).toMatchObject({ contents: [{ uri }] });
  });

  test("progress, and a call that its client cancels", async () => {
    const seen: number[] = [];
    const long = (duration: number, signal: AbortSignal, onprogress: (progress: { progress: number }) => void) =>
      client.call("trigger-long-running-operation", { duration, steps: duration * 10 }, { signal, onprogress });
    const whole = await long(0.5, new AbortController().signal, ({ progress }) => seen.push(progress));
    expect(JSON.stringify(whole)).toContain("completed");
    expect(seen.length).toBeGreaterThan(2);
    const leaving = new AbortController();
    expect(await long(10, leaving.signal, () => leaving.abort()).catch(() => "left")).toBe("left");
  });
});

test("each call is charged, and nothing stays held", async () => {
  expect(await scene().caller.closed()).toBeGreaterThan(0n);
  await scene().rig.expectBalancedBooks();
});

const inspector = await findNpmClient("@modelcontextprotocol/inspector@2.12.0");

test.skipIf("missing" in inspector)("the Inspector's command line", async () => {
  if ("missing" in inspector) return;
  const ask = async (...given: string[]) => {
    const { authorization } = requestInit().headers;
    const common = ["--cli", endpoint().href, "--transport", "http", "--header", `Authorization: ${authorization}`];
    const child = Bun.spawn(["node", join(inspector.bin, "mcp-inspector"), ...common, ...given], {
      env: cleanEnvironment({ HOME: scene().rig.gateway.folder }),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return stdout + stderr;
  };
  expect(await ask("--method", "tools/call", "--tool-name", "echo", "--tool-arg", "message=Hello")).toContain(
    "Echo: Hello",
  );
});

const firecrawl = await findNpmClient("firecrawl-mcp@3.26.0");

test.skipIf("missing" in firecrawl)("firecrawl-mcp, pointed at the gateway", async () => {
  if ("missing" in firecrawl) return;
  const { rig, caller, site } = scene();
  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    new StdioClientTransport({
      command: "node",
      args: [join(firecrawl.bin, "firecrawl-mcp")],
      env: cleanEnvironment({ FIRECRAWL_API_URL: rig.gateway.url, FIRECRAWL_API_KEY: caller.token }),
      stderr: "ignore",
    }),
  );
  const call = async (name: string, given: object) =>
    JSON.stringify(await client.callTool({ name, arguments: { ...given } }));
  const url = `${site.url}/ghost/sourdough`;
  expect(await call("firecrawl_scrape", { url, formats: ["markdown"] })).toContain("A starter that doubles");
  expect(await call("firecrawl_map", { url: site.url })).toContain("/ghost/sourdough");
  await client.close();
});
