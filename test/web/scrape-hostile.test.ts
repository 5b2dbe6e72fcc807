/** Pages that try to use up the reader's memory, time or patience, and redirects to places that are nobody's business. */
import { expect, test } from "bun:test";
import { hasProc, processTree, residentMebibytes } from "../kit/index.ts";
import { eachOf, webScene } from "./web-scene.ts";

const scene = webScene();

/** For each page. */
const timeoutMs = 3_000;

/** The time-out, and what a machine with other things to do may add to it. */
const answerMsMax = 15_000;

/** Of the gateway and its children together, the browser's processes included. */
const mebibytesMax = 1_500;

/** How often memory is read. */
const watchMs = 100;

/** Watches the memory of a process and all below it; returns what ends that and tells the most. */
function watchMemory(pid: number): () => number {
  let most = 0;
  const watch = (): void => {
    most = Math.max(
      most,
      processTree(pid).reduce((sum, each) => sum + residentMebibytes(each.pid), 0),
    );
  };
  if (!hasProc) return () => most;
  const timer = setInterval(watch, watchMs);
  return () => {
    clearInterval(timer);
    watch();
    return most;
  };
}

test("redirects to private addresses, to other schemes and in circles end with an error", async () => {
  const { site, scrape } = scene();
  const codes = new Map<string, string | undefined>();
  await eachOf(site.badRedirects, async (path) => {
    const { status, success, code, data } = await scrape(path, { timeout: timeoutMs });
    codes.set(path, code);
    // A Location that cannot be followed is the target's own answer, and a refresh that may not be followed its page.
    if (status === 200) expect([path, data.metadata["url"]]).toEqual([path, site.url + path]);
    else expect([path, success, typeof code, [408, 422, 502].includes(status)]).toEqual([path, false, "string", true]);
  });
  for (const name of ["metadata-service", "private", "other-port", "ipv6", "decimal", "localhost"]) {
    expect([name, codes.get(`/redirect/${name}`)]).toEqual([name, "address_refused"]);
  }
});

test("hostile pages cost bounded time and memory, and nobody else", async () => {
  const { site, rig, caller, scrape } = scene();
  const slow: string[] = [];
  const mostMebibytes = watchMemory(rig.gateway.process.pid);
  await eachOf(site.hostile, async (path) => {
    const startedMs = performance.now();
    const { status, code } = await scrape(path, { timeout: timeoutMs, formats: ["markdown", "links"] });
    if (performance.now() - startedMs > answerMsMax) slow.push(path);
    // On a busy machine a page may wait for its turn until its time is over.
    expect([path, [200, 408, 422, 502].includes(status) || code === "web_busy"]).toEqual([path, true]);
    const messages = [{ role: "user", content: "hi" }];
    expect((await caller.chat({ model: "openai/gpt-4o-mini", messages })).status).toBe(200);
  });
  expect(slow).toEqual([]);
  expect(mostMebibytes()).toBeLessThan(mebibytesMax);
  expect(await caller.closed()).toBeGreaterThan(0n);
});

test("what cannot be read says why", async () => {
  const { scrape } = scene();
  const expected: Readonly<Record<string, string>> = {
    "/hostile/endless": "target_too_large",
    "/hostile/gzip-bomb": "target_too_large",
    "/hostile/brotli-bomb": "target_too_large",
    "/hostile/silent": "SCRAPE_TIMEOUT",
    "/hostile/drip": "SCRAPE_TIMEOUT",
    "/hostile/reset": "SCRAPE_SITE_ERROR",
    "/hostile/picture": "SCRAPE_UNSUPPORTED_FILE_ERROR",
  };
  const found: Record<string, string | undefined> = {};
  await eachOf(Object.keys(expected), async (path) => {
    const isLate = expected[path] === "SCRAPE_TIMEOUT";
    const { status, success, code } = await scrape(path, isLate ? { timeout: timeoutMs } : {});
    expect([path, status, success]).toEqual([path, isLate ? 408 : 502, false]);
    found[path] = code;
  });
  expect(found).toEqual(expected);
});

test("a target's own error is a result", async () => {
  const { scrape } = scene();
  for (const status of [404, 403, 500]) {
    const answer = await scrape(`/status/${status}`);
    expect([answer.status, answer.data.metadata["statusCode"]]).toEqual([200, status]);
  }
  expect((await scrape("/status/404")).data.markdown).toContain("its text is");
});

test("a request's own headers go to the page's host, and no others", async () => {
  const { site, scrape } = scene();
  site.clear();
  await scrape("/echo", { headers: { "x-mark": "7", "accept-language": "de" } });
  const [seen] = site.visits("/echo");
  expect(seen?.headers).toMatchObject({ "x-mark": "7", "accept-language": "de" });
  expect(JSON.stringify(seen?.headers)).not.toContain("tg_");
  expect((await scrape("/echo", { headers: { host: "internal" } })).status).toBe(422);
});
