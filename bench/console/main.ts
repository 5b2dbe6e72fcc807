/**
 * `bun bench/console/main.ts`: the console in a real Chromium. How long until Spend is usable, beside a page of React alone in the same
 * browser; and a live tail of 1,000 calls a second for half a minute: rows in the document, memory, and tasks that keep the page from
 * reacting. A server in front of the gateway makes the calls of the tail up, since so many real ones would take the browser's CPU.
 */
import type { Browser, Page } from "playwright-core";
import { startChromium, startRig } from "../../test/kit/index.ts";
import { median } from "../report/median.ts";

const LOADS = 9;
const CALLS_A_SECOND = 1_000;
const TAIL_SECONDS = 30;

/** How often the server sends a part of the calls. */
const PART_MS = 10;

const rig = await startRig();
const token = await rig.gateway.token({ user: "bench", role: "owner" });
const headers = { authorization: `Bearer ${token}` };
const caller = await rig.caller();
for (let call = 0; call < 20; call += 1) {
  const answer = await caller.chat({ model: "openai/gpt-4o-mini", messages: [{ role: "user", content: "words:20" }] });
  await answer.text();
}
const listed = await fetch(`${rig.gateway.url}/admin/v1/generations?limit=1`, { headers });
const [example] = ((await listed.json()) as { data: { id: string }[] }).data;
if (example === undefined) throw new Error("there is no call");

const reactOnly = await reactPage();
let sent = 0;

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const { pathname, search } = new URL(request.url);
    if (pathname === "/elsewhere") return html("<p>Another site.</p>");
    if (pathname === "/react") return html('<main></main><script type="module" src="/react.js"></script>');
    if (pathname === "/react.js") return new Response(reactOnly, { headers: { "content-type": "text/javascript" } });
    if (request.headers.get("accept") === "text/event-stream") return tail();
    const answer = await fetch(rig.gateway.url + pathname + search, { headers: request.headers });
    const { status, headers: own } = answer;
    const kept = new Headers(own);
    kept.delete("content-encoding");
    return new Response(await answer.arrayBuffer(), { status, headers: kept });
  },
});

function html(body: string): Response {
  return new Response(`<!doctype html><title>React</title>${body}`, { headers: { "content-type": "text/html" } });
}

/** The code of a page that React renders, and nothing else. */
async function reactPage(): Promise<string> {
  const code =
    'import { createRoot } from "react-dom/client"; import { createElement } from "react";' +
    'createRoot(document.querySelector("main")).render(createElement("h1", null, "Spend"));';
  const built = await Bun.build({
    entrypoints: ["react-only.js"],
    files: { "react-only.js": code },
    minify: true,
    define: { "process.env.NODE_ENV": '"production"' },
  });
  return (await built.outputs[0]?.text()) ?? "";
}

/** Calls that end, as the gateway sends them: with ids of their own. */
function tail(): Response {
  const encoder = new TextEncoder();
  let timer: ReturnType<typeof setInterval>;
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      const began = performance.now();
      let own = 0;
      timer = setInterval(() => {
        const due = Math.floor(((performance.now() - began) / 1_000) * CALLS_A_SECOND);
        let text = "";
        for (; own < due; own += 1) {
          const id = `req_${String(own).padStart(25, "0")}`;
          text += `event: generation\ndata: ${JSON.stringify({ ...example, id })}\n\n`;
        }
        sent = own;
        controller.enqueue(encoder.encode(text));
      }, PART_MS);
    },
    cancel: () => clearInterval(timer),
  });
  return new Response(stream, { headers: { "content-type": "text/event-stream" } });
}

/** A new window loads parts of its own for a while, which would take the cores from the page that it opens. */
const WINDOW_MS = 700;

/**
 * Milliseconds from the navigation until the browser has painted an element, with an empty cache, in a window that shows a page of
 * another site: a browser gives the next site a process of its own, whatever its headers are. The page itself reports the time, since a
 * question from outside would take its thread, and would come some tens of milliseconds late.
 */
async function usableMs(browser: Browser, address: string, selector: string): Promise<number> {
  const context = await browser.newContext({ extraHTTPHeaders: headers });
  const page = await context.newPage();
  await page.goto(`http://localhost:${server.port}/elsewhere`);
  const debug = await context.newCDPSession(page);
  await debug.send("Runtime.enable");
  await debug.send("Runtime.addBinding", { name: "report" });
  const reported = new Promise<number>((resolve) =>
    debug.on("Runtime.bindingCalled", ({ payload }) => resolve(Number(payload))),
  );
  await page.addInitScript(reportOnce(selector));
  await Bun.sleep(WINDOW_MS);
  await page.goto(address, { waitUntil: "commit" });
  const ms = await reported;
  await context.close();
  return ms;
}

/** A script that reports when the first frame with an element has been painted. */
const reportOnce = (selector: string): string => `
  new MutationObserver((_, watch) => {
    if (document.querySelector(${JSON.stringify(selector)}) === null) return;
    watch.disconnect();
    requestAnimationFrame(() => setTimeout(() => report(String(performance.now()))));
  }).observe(document, { childList: true, subtree: true, attributes: true });`;

const mb = (bytes: number): string => (bytes / 1_048_576).toFixed(1);

async function heapBytes(page: Page): Promise<number> {
  const debug = await page.context().newCDPSession(page);
  await debug.send("HeapProfiler.collectGarbage");
  const { usedSize } = await debug.send("Runtime.getHeapUsage");
  return usedSize;
}

const browser = await startChromium();
try {
  const [spend, react]: [number[], number[]] = [[], []];
  for (let load = 0; load <= LOADS; load += 1) {
    const page = await usableMs(browser, `${rig.gateway.url}/console/spend`, 'main[aria-busy="false"] tfoot data');
    const alone = await usableMs(browser, `http://127.0.0.1:${server.port}/react`, "h1");
    // The first of each warms the browser up.
    if (load === 0) continue;
    spend.push(page);
    react.push(alone);
  }
  const [own, floor] = [median(spend), median(react)];
  const least = [Math.min(...spend), Math.min(...react)].map((ms) => ms.toFixed(0));
  process.stdout.write(
    `Spend usable: ${own.toFixed(0)} ms, at least ${least[0]}; React alone: ${floor.toFixed(0)} ms, at least ${least[1]}; ` +
      `${(own / floor).toFixed(2)} times\n`,
  );

  const context = await browser.newContext({ extraHTTPHeaders: headers });
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${server.port}/console/requests`);
  await page.waitForSelector('main[aria-busy="false"] h1');
  const before = await heapBytes(page);
  await page.evaluate(
    "window.long = []; new PerformanceObserver((list) => window.long.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: 'longtask' })",
  );
  await page.getByRole("button", { name: "Live" }).click();
  await Bun.sleep(TAIL_SECONDS * 1_000);
  const rows = await page.locator("tbody tr").count();
  const held = await page.locator("table").getAttribute("aria-rowcount");
  const long = await page.evaluate<number[]>("window.long");
  const asked = performance.now();
  await page.getByRole("button", { name: "Live" }).click();
  const reacted = performance.now() - asked;
  const after = await heapBytes(page);
  process.stdout.write(
    `Live tail: ${sent} calls in ${TAIL_SECONDS} s; ${held} kept, ${rows} rows in the document; heap ${mb(before)} MB before, ${mb(after)} MB after; ` +
      `${long.length} tasks above 50 ms, the longest ${Math.max(0, ...long).toFixed(0)} ms; its end took ${reacted.toFixed(0)} ms\n`,
  );
} finally {
  await browser.close();
  await server.stop(true);
  await rig.stop();
}
