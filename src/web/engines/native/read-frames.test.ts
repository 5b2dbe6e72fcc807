import { afterAll, beforeAll, expect, test } from "bun:test";
import { PagePool } from "../../../pages/index.ts";
import { MemoryBudget } from "../../../streaming/index.ts";
import { outboundTo } from "../../__fixtures__/outbound-to.ts";
import type { NativeDependencies } from "./native-dependencies.ts";
import { readFrames } from "./read-frames.ts";
import { planOf } from "./scrape-plan.ts";

const framesMs = 30_000;
const pages = new PagePool();
let asked: string[] = [];
const site = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const { pathname } = new URL(request.url);
    asked.push(`${pathname} ${request.headers.get("x-own")}`);
    if (pathname === "/away") return Response.redirect("http://127.0.0.1:1/x", 302);
    if (pathname === "/missing") return new Response("<p>Not found", { status: 404 });
    if (pathname === "/large") return new Response("x".repeat(2_000), { headers: { "content-type": "text/html" } });
    return new Response(`<p>Frame ${pathname} <a href="y">z</a>`, { headers: { "content-type": "text/html" } });
  },
});
const url = `http://127.0.0.1:${site.port}`;

beforeAll(() => {
  asked = [];
});
afterAll(async () => {
  await site.stop(true);
  await pages.close();
});

async function read(paths: string[], pageBytesMax = 10_000): Promise<Record<string, string>> {
  const deps = { pages, outbound: outboundTo(url), userAgent: "test", pageBytesMax } as unknown as NativeDependencies;
  const plan = planOf({ url, headers: { "x-own": "1" } }, { cacheMsMax: 0 });
  const time = { left: () => framesMs, signal: new AbortController().signal, owner: "alice" };
  const memory = new MemoryBudget(1_000_000).share();
  try {
    return await readFrames(deps, plan, { addresses: paths.map((path) => url + path), memory }, time);
  } finally {
    memory.free();
  }
}

test(
  "frames are read one after the other, and those that fail are left out",
  async () => {
    const frames = await read(["/a", "/missing", "/away", "/b"]);
    expect(Object.keys(frames)).toEqual([`${url}/a`, `${url}/b`]);
    expect(frames[`${url}/a`]).toContain(`Frame /a <a href="${url}/y">z</a>`);
    expect(asked).toEqual(["/a 1", "/missing 1", "/away 1", "/b 1"]);
  },
  framesMs,
);

test(
  "all of them together are no larger than a page may be",
  async () => {
    expect(Object.keys(await read(["/a", "/large", "/b"], 1_000))).toEqual([`${url}/a`, `${url}/b`]);
  },
  framesMs,
);
