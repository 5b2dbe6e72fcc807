/** Crawls whose pages redirect, or link to other sites: what is a page, and who gets the caller's headers. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { post, type Rig, startRig, until } from "../kit/index.ts";

const endMsMax = 60_000;

let rig: Rig;
let token: string;
const servers: Bun.Server<undefined>[] = [];
beforeAll(async () => {
  const crawl = { pages_per_second: 0, connections_per_host: 16 };
  rig = await startRig({ config: { web: { allow_private_hosts: ["127.0.0.1:*"], crawl } } });
  ({ token } = await rig.caller());
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop(true);
});
afterAll(() => rig.stop());

interface Site {
  url: string;
  /** The path and the authorization of each request. */
  asked: [path: string, authorization: string | null][];
}

/** A site of these pages; each is its HTML, or the path or address that it redirects to. */
function serve(pages: Record<string, string>): Site {
  const asked: Site["asked"] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      asked.push([pathname, request.headers.get("authorization")]);
      const page = pages[pathname];
      if (page === undefined) return new Response("", { status: 404 });
      if (/^(?:\/|http)/.test(page)) return Response.redirect(page);
      const status = pathname.startsWith("/missing") ? 404 : 200;
      return new Response(`<!doctype html><title>${pathname}</title>${page}`, {
        status,
        headers: { "content-type": "text/html" },
      });
    },
  });
  servers.push(server);
  return { url: `http://127.0.0.1:${server.port}`, asked };
}

const linksTo = (...addresses: string[]): string => addresses.map((each) => `<a href="${each}">${each}</a>`).join(" ");

interface Job {
  status: string;
  data: { metadata: { url: string; sourceURL: string } }[];
}

/** The pages of a crawl, once it has ended. */
async function crawled(body: object): Promise<Job["data"][number]["metadata"][]> {
  const started = (await (await post(rig, "/v2/crawl", token, { sitemap: "skip", ...body })).json()) as { id: string };
  const look = async (): Promise<Job | false> => {
    const headers = { authorization: `Bearer ${token}` };
    const job = (await (await fetch(`${rig.gateway.url}/v2/crawl/${started.id}`, { headers })).json()) as Job;
    return job.status !== "scraping" && job;
  };
  const job = await until("the crawl has ended", look, endMsMax);
  expect(job.status).toBe("completed");
  return job.data.map(({ metadata }) => metadata);
}

test(
  "addresses that redirect to one page are one page, however short it is",
  async () => {
    const site = serve({
      "/": linksTo("/login", "/account", "/cart", "/gone-1", "/gone-2", "/short-1", "/short-2"),
      "/account": "/login",
      "/cart": "/login",
      "/login": "Log in.",
      "/gone-1": "/missing",
      "/gone-2": "/missing",
      "/missing": "Not here.",
      "/short-1": "Short.",
      "/short-2": "Short.",
    });
    const read = (await crawled({ url: site.url })).map(({ url }) => new URL(url).pathname);
    expect(read.toSorted()).toEqual(["/", "/login", "/missing", "/short-1", "/short-2"]);
  },
  endMsMax,
);

test(
  "the caller's headers are sent to the named site alone: not to others that it links or moves to",
  async () => {
    const other = serve({ "/": linksTo("/more"), "/more": "More." });
    const site = serve({ "/": linksTo("/own", `${other.url}/more`), "/own": "Own.", "/moved": other.url });
    const options = {
      scrapeOptions: { maxAge: 0, headers: { authorization: "Bearer of-the-site" } },
      crawlEntireDomain: true,
    };
    expect(await crawled({ url: site.url, allowExternalLinks: true, ...options })).toHaveLength(3);
    expect(await crawled({ url: `${site.url}/moved`, ...options })).toHaveLength(2);
    expect(site.asked).toContainEqual(["/own", "Bearer of-the-site"]);
    expect(other.asked.filter(([path]) => path === "/more")).toEqual([
      ["/more", null],
      ["/more", null],
    ]);
  },
  endMsMax,
);
