/** A user whose crawls have expensive patterns holds up nobody else's requests. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { besideOthers, expectShare } from "../kit/slowness.ts";
import { type Caller, post, type Rig, startRig, until } from "../kit/index.ts";

/** Patterns within their bounds, which take some 70 ms for an address of this length. */
const patterns = Array.from({ length: 20 }, (_, index) => `(.*a.*){${5 + (index % 5)}}(b|c|[^x]){5}$`);
const long = "a".repeat(300);

let site: Bun.Server<undefined>;
let rig: Rig;
beforeAll(async () => {
  site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      const { pathname } = new URL(url);
      if (pathname === "/robots.txt" || pathname === "/sitemap.xml") return new Response("", { status: 404 });
      const links =
        pathname === "/one" ? [] : Array.from({ length: 5_000 }, (_, at) => `<a href="/${long}/${at}/x">x</a>`);
      return new Response(`<title>x</title><p>One paragraph.</p>${links.join("")}`, {
        headers: { "content-type": "text/html" },
      });
    },
  });
  rig = await startRig({ config: { web: { allow_private_hosts: [site.url.host] } } });
});
afterAll(async () => {
  await rig.stop();
  await site.stop(true);
});

async function scrape(caller: Caller): Promise<number> {
  const startedMs = performance.now();
  const body = { url: new URL("/one", site.url).href, maxAge: 0 };
  const answer = await post(rig, "/v2/scrape", caller.token, body);
  expect(answer.status).toBe(200);
  return performance.now() - startedMs;
}

const errorsOf = async (caller: Caller, id: string): Promise<string> => {
  const headers = { authorization: `Bearer ${caller.token}` };
  return (await fetch(`${rig.gateway.url}/v2/crawl/${id}/errors`, { headers })).text();
};

test("beside six crawls whose patterns take long, another's page comes in time, and the crawls are told", async () => {
  const [hostile, caller] = [await rig.caller(), await rig.caller()];
  await scrape(caller);
  const aloneMs = await scrape(caller);
  const ids = await Promise.all(
    Array.from({ length: 6 }, async (_, at) => {
      const body = { url: new URL(`/?start=${at}`, site.url).href, excludePaths: patterns, limit: 50 };
      const started = await post(rig, "/v2/crawl", hostile.token, body);
      expect(started.status).toBe(200);
      return ((await started.json()) as { id: string }).id;
    }),
  );
  // With the patterns on the thread of requests it was 46 seconds.
  const expectInTime = async (): Promise<void> => {
    const { result: ms, slow } = await besideOthers(() => scrape(caller));
    expectShare({ queue: "patterns of crawls", aloneMs, besideMs: ms, slow });
  };
  for (let time = 0; time < 5; time += 1) await expectInTime();
  // After two seconds of a processor, of which the child gets little beside others: its priority is low.
  await until(
    "one of them is told",
    async () => {
      const errors = await Promise.all(ids.map((id) => errorsOf(hostile, id)));
      return errors.some((text) => text.includes("PATTERNS_TOO_SLOW"));
    },
    180_000,
  );
  await expectInTime();
});
