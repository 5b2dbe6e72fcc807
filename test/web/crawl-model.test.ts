/** The money of crawls whose pages a model reads: their credits are those that the balance loses. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { creditsText, post, type Rig, startRig, until } from "../kit/index.ts";

let rig: Rig;
let site: Bun.Server<undefined>;
beforeAll(async () => {
  const same = "The tide comes in twice a day, and twice a day it leaves the harbour to the gulls. ".repeat(3);
  const links = ["/same-1", "/same-2", "/away", "/failing"].map((path) => `<a href="${path}">${path}</a>`);
  const pages: Record<string, () => Response> = {
    "/": () => html(`<title>Start</title>${links.join("")}`),
    "/same-1": () => html(`<title>Same</title>${same}`),
    "/same-2": () => html(`<title>Same</title>${same}`),
    "/away": () => Response.redirect("http://127.0.0.1:1/"),
    "/failing": () => html(`<title>Failing</title>${same}`, 500),
  };
  site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) => pages[new URL(url).pathname]?.() ?? new Response("", { status: 404 }),
  });
  rig = await startRig({ config: { web: { allow_private_hosts: ["127.0.0.1:*"], model: "openai/gpt-crawl" } } });
});
afterAll(async () => {
  await rig.stop();
  await site.stop(true);
});

function html(body: string, status = 200): Response {
  return new Response(`<!doctype html>${body}`, { status, headers: { "content-type": "text/html" } });
}

test.each([
  ["all of the site", {}, 2],
  ["a start that is read for its links only", { includePaths: ["^/same"] }, 1],
])(
  "the model reads pages with a result alone: %s",
  async (_, more, pages) => {
    const caller = await rig.caller();
    const asked = rig.received("gpt-crawl").length;
    // One after the other: of two equal pages at the same moment both are read.
    const body = { url: `http://127.0.0.1:${site.port}/`, sitemap: "skip", maxConcurrency: 1, ...more };
    const scrapeOptions = { formats: ["summary"], maxAge: 0 };
    const started = await post(rig, "/v2/crawl", caller.token, { ...body, scrapeOptions });
    const { id } = (await started.json()) as { id: string };
    const job = await until(
      "the crawl has ended",
      async () => {
        const headers = { authorization: `Bearer ${caller.token}` };
        const answer = await fetch(`${rig.gateway.url}/v2/crawl/${id}`, { headers });
        const state = (await answer.json()) as { status: string; completed: number; creditsUsed: number };
        return state.status !== "scraping" && state;
      },
      60_000,
    );
    expect([job.status, job.completed, rig.received("gpt-crawl").length - asked]).toEqual(["completed", pages, pages]);
    expect(job.creditsUsed).toBe(Number(creditsText(await caller.closed())));
  },
  60_000,
);
