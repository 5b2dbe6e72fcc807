/** A process of its own: a site without end whose pages have 20 to 60 KB, and a provider that answers chat calls at once, or soon. */
import { sayLine, serveLines } from "../http1/lines.ts";
import { completion } from "../upstream/completion.ts";
import { makePage } from "../pages/corpus.ts";

const kilobytes = [20, 30, 40, 50, 60];
const pagesMax = 1_000_000;
const linksOfPage = 20;

/** Their own links lead to pages as well: every page that is counted has a text. */
const frames = kilobytes.map((size) =>
  new TextDecoder()
    .decode(makePage(`${size} KB`, size * 1_000).bytes)
    .replaceAll(/"\/articles\/(\d+)\?ref=list"/g, '"/page/$1"'),
);

/** Pages differ in their text, so that none repeats another, and lead to further ones. */
function pageOf(number: number): string {
  const links = Array.from({ length: linksOfPage }, (_, index) => (number * linksOfPage + index + 1) % pagesMax);
  const own = links.map((each) => `<p>The page ${each} is <a href="/page/${each}">the next</a> of page ${number}.</p>`);
  return (frames[number % frames.length] ?? "").replace("</h1>", `</h1>${own.join("")}`);
}

/** How long the model of batches takes. */
const slowMs = 20;

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (request.method === "POST") {
      if ((await request.text()).includes("slow-model")) await Bun.sleep(slowMs);
      return Response.json(completion);
    }
    const number = /^\/page\/(\d+)$/.exec(pathname)?.[1];
    if (number === undefined) return new Response("not here", { status: 404 });
    return new Response(pageOf(Number(number)), { headers: { "content-type": "text/html; charset=utf-8" } });
  },
});

sayLine({ url: `http://127.0.0.1:${server.port}` });
await serveLines(() => null);
