import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";

import { bodyOf, chat, completionOf, get, member, post } from "./testing/client.ts";

const entry = join(import.meta.dir, "main.ts");
const started: Bun.Subprocess[] = [];

afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});

interface Ready {
  readonly ready: true;
  readonly url: string;
  readonly providers: { readonly [name: string]: string };
  readonly site: string;
}

async function start(...args: string[]) {
  const child = Bun.spawn([process.execPath, entry, ...args], { stdin: "pipe", stdout: "pipe", stderr: "pipe" });
  started.push(child);
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  const text = new TextDecoder().decode(value);
  return { child, text };
}

test("prints one JSON line when listening and answers at its URLs", async () => {
  const { child, text } = await start("--port", "0");
  expect(text).toEndWith("}\n");
  const ready = JSON.parse(text) as Ready;
  expect(ready.ready).toBe(true);
  expect(ready.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(ready.providers).toEqual({
    openai: `${ready.url}/openai/v1`,
    google: `${ready.url}/google`,
    xai: `${ready.url}/xai/v1`,
    deepseek: `${ready.url}/deepseek/v1`,
    anthropic: `${ready.url}/anthropic`,
    mistral: `${ready.url}/mistral/v1`,
    byteplus: `${ready.url}/byteplus/api/v3`,
    cohere: `${ready.url}/cohere`,
    jina: `${ready.url}/jina/v1`,
    voyage: `${ready.url}/voyage/v1`,
    "openai-compatible": `${ready.url}/openai-compatible/v1`,
  });
  expect(await (await fetch(ready.site)).text()).toContain("<h1");
  const reply = await post(`${ready.url}/openai/v1/chat/completions`, chat("gpt-4o-mini", "hi"));
  expect(completionOf(reply).model).toBe("gpt-4o-mini");
  expect(member(bodyOf(await get(`${ready.url}/__requests`)), "total")).toBe(1);
  expect((await get(`${ready.url}/nowhere`)).status).toBe(404);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
});

test("SIGINT ends it at once, open streams or not", async () => {
  const { child, text } = await start();
  const { url } = JSON.parse(text) as Ready;
  const body = JSON.stringify(chat("gpt-4o-mini+stall-1", "hi", { stream: true }));
  const headers = { authorization: "Bearer k" };
  const response = await fetch(`${url}/openai/v1/chat/completions`, { method: "POST", headers, body });
  await response.body?.getReader().read();
  child.kill("SIGINT");
  expect(await child.exited).toBe(0);
});

test("--exit-with-parent ends it when stdin closes", async () => {
  const { child } = await start("--exit-with-parent");
  await child.stdin.end();
  expect(await child.exited).toBe(0);
});

test("a port that is taken or senseless ends it with one line", async () => {
  const { text } = await start();
  const { port } = new URL((JSON.parse(text) as Ready).url);
  for (const wrong of [port, "70000", "x"]) {
    const child = Bun.spawn([process.execPath, entry, "--port", wrong], { stdout: "pipe", stderr: "pipe" });
    started.push(child);
    expect(await child.exited).toBe(1);
    expect((await new Response(child.stderr).text()).trim().split("\n")).toHaveLength(1);
  }
});
