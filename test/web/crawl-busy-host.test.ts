/** Hosts that ask for fewer requests. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Caller, oneCredit, post, type Rig, startRig, until } from "../kit/index.ts";

interface Visit {
  path: string;
  at: number;
}

/** A host whose pages, by their path, are busy the first times, with this `retry-after`. */
interface BusyHost {
  url: string;
  visits: Visit[];
  stop: () => Promise<void>;
}

function startHost(busy: Record<string, { times: number; wait?: string }>): BusyHost {
  const visits: Visit[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      const { pathname: path } = new URL(url);
      visits.push({ path, at: performance.now() });
      const times = visits.filter((visit) => visit.path === path).length;
      const found = busy[path];
      const isBusy = found !== undefined && times <= found.times;
      if (path === "/robots.txt" && !isBusy) return new Response("", { status: 404 });
      return new Response(`<title>${path}</title><p>Text of ${path}.</p>`, {
        status: isBusy ? 429 : 200,
        headers: {
          "content-type": "text/html",
          ...(isBusy && found.wait !== undefined && { "retry-after": found.wait }),
        },
      });
    },
  });
  const host = { url: `http://127.0.0.1:${server.port}`, visits, stop: () => server.stop(true) };
  hosts.push(host);
  return host;
}

let rig: Rig;
const hosts: BusyHost[] = [];
beforeAll(async () => {
  const crawl = { pages_per_second: 0, connections_per_host: 16, retry_after_max: "2s" };
  rig = await startRig({ config: { web: { allow_private_hosts: ["127.0.0.1:*"], crawl } } });
});
afterAll(async () => {
  await rig.stop();
  for (const host of hosts) await host.stop();
});

interface Job {
  status: string;
  warning?: string;
  data: { metadata: { sourceURL: string } }[];
}

interface Ended {
  paths: string[];
  warning: string | undefined;
  errors: { url: string; code: string; error: string }[];
  robotsBlocked: string[];
}

const pathOf = (url: string): string => new URL(url).pathname;

async function ended({ token }: Caller, path: string, body: object): Promise<Ended> {
  const started = await post(rig, path, token, body);
  const { id } = (await started.json()) as { id: string };
  const look = async (part: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${rig.gateway.url}${path}/${id}${part}`, { headers })).json();
  };
  const atEnd = async (): Promise<Job | false> => {
    const job = (await look("")) as Job;
    return job.status !== "scraping" && job;
  };
  const { data, warning } = await until("it has ended", atEnd, 60_000);
  const { errors, robotsBlocked } = (await look("/errors")) as Omit<Ended, "paths" | "warning">;
  return { paths: data.map(({ metadata }) => pathOf(metadata.sourceURL)), warning, errors, robotsBlocked };
}

test("rest as long as they ask for, and a page that is refused three times or for too long has failed and is free", async () => {
  const host = startHost({
    "/once": { times: 1, wait: "1" },
    "/always": { times: 9, wait: "1" },
    "/hour": { times: 9, wait: "3600" },
  });
  const caller = await rig.caller();
  const urls = ["/once", "/always", "/hour"].map((path) => host.url + path);
  const { paths, errors } = await ended(caller, "/v2/batch/scrape", { urls });
  expect(paths).toEqual(["/once"]);
  const failures = errors.toSorted((one, other) => one.url.localeCompare(other.url));
  expect(failures).toMatchObject([
    { url: urls[1], code: "SCRAPE_SITE_ERROR", error: "The server answered 429." },
    { url: urls[2], code: "RATE_LIMITED" },
  ]);
  const asked = (path: string): number[] => host.visits.filter((visit) => visit.path === path).map(({ at }) => at);
  expect(["/once", "/always", "/hour"].map((path) => asked(path).length)).toEqual([2, 3, 1]);
  const [first = 0, second = 0] = asked("/once");
  expect(second - first).toBeGreaterThan(950);
  expect(await caller.closed()).toBe(oneCredit / 1_000n);
});

test("rest themselves, and not the host that has sent a crawl to them", async () => {
  const busy = startHost({ "/busy": { times: 1, wait: "3600" } });
  let pageAt = 0;
  const shortener = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) => {
      if (pathOf(url) === "/go") return Response.redirect(`${busy.url}/busy`, 302);
      pageAt = performance.now();
      return new Response("<p>A page.</p>", { headers: { "content-type": "text/html" } });
    },
  });
  const [go, page] = ["/go", "/page"].map((path) => `http://127.0.0.1:${shortener.port}${path}`);
  const [first, second] = [await rig.caller(), await rig.caller()];
  expect((await ended(first, "/v2/batch/scrape", { urls: [go] })).errors).toMatchObject([{ code: "RATE_LIMITED" }]);
  expect((await ended(second, "/v2/batch/scrape", { urls: [page] })).paths).toEqual(["/page"]);
  // Its rest is two seconds.
  expect(pageAt - (busy.visits[0]?.at ?? 0)).toBeLessThan(1_900);
  await shortener.stop(true);
});

test("are asked for robots.txt again, and crawled then", async () => {
  const host = startHost({ "/robots.txt": { times: 1, wait: "1" } });
  const { paths, errors } = await ended(await rig.caller(), "/v2/crawl", { url: `${host.url}/`, sitemap: "skip" });
  expect([paths, errors]).toEqual([["/"], []]);
  expect(host.visits.map(({ path }) => path)).toEqual(["/robots.txt", "/robots.txt", "/"]);
});

test.each([[undefined], ["3600"]])(
  "are not crawled if robots.txt has too many requests (retry-after: %p)",
  async (wait) => {
    const host = startHost({ "/robots.txt": { times: 9, ...(wait !== undefined && { wait }) } });
    const { paths, errors, robotsBlocked } = await ended(await rig.caller(), "/v2/crawl", { url: `${host.url}/` });
    expect([paths, robotsBlocked.map(pathOf)]).toEqual([[], ["/"]]);
    expect(errors.map(({ code }) => code)).toEqual(["ROBOTS_UNAVAILABLE"]);
    expect(host.visits.filter(({ path }) => path === "/")).toEqual([]);
  },
);

test("are not asked for what the cache has, and a crawl says so", async () => {
  const host = startHost({});
  const caller = await rig.caller();
  const urls = [`${host.url}/a`, `${host.url}/b`];
  expect((await ended(caller, "/v2/batch/scrape", { urls })).warning).toBeUndefined();
  const again = await ended(caller, "/v2/batch/scrape", { urls });
  expect(again.warning).toBe(
    "2 pages were answered from your cache, at the full price. maxAge: 0 reads every page again.",
  );
  expect([again.errors, host.visits.length]).toEqual([[], 2]);
  expect((await ended(caller, "/v2/batch/scrape", { urls, maxAge: 0 })).warning).toBeUndefined();
  expect(host.visits).toHaveLength(4);
});
