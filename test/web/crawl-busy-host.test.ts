/** A host that asks for fewer requests. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { oneCredit, post, type Rig, startRig, until } from "../kit/index.ts";

let rig: Rig;
let site: Bun.Server<undefined>;
const asked = new Map<string, number>();
beforeAll(async () => {
  site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      const { pathname } = new URL(url);
      const times = (asked.get(pathname) ?? 0) + 1;
      asked.set(pathname, times);
      const isBusy = pathname === "/always" || (pathname === "/once" && times === 1);
      return new Response(`<title>${pathname}</title><p>Text.</p>`, {
        status: isBusy ? 429 : 200,
        headers: { "content-type": "text/html" },
      });
    },
  });
  const crawl = { pages_per_second: 0, connections_per_host: 16 };
  rig = await startRig({ config: { web: { allow_private_hosts: ["127.0.0.1:*"], crawl } } });
});
afterAll(async () => {
  await rig.stop();
  await site.stop(true);
});

interface Job {
  status: string;
  data: { metadata: { sourceURL: string } }[];
}

test("is asked again after a rest, and at last its page has failed and is free", async () => {
  const caller = await rig.caller();
  const urls = ["/once", "/always"].map((path) => `http://127.0.0.1:${site.port}${path}`);
  const started = await post(rig, "/v2/batch/scrape", caller.token, { urls });
  const { id } = (await started.json()) as { id: string };
  const look = async (path: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${caller.token}` };
    return (await fetch(`${rig.gateway.url}/v2/batch/scrape/${id}${path}`, { headers })).json();
  };
  const ended = async (): Promise<Job | false> => {
    const job = (await look("")) as Job;
    return job.status !== "scraping" && job;
  };
  const { data } = await until("the batch has ended", ended, 80_000);
  expect(data.map(({ metadata }) => metadata.sourceURL)).toEqual(urls.slice(0, 1));
  const { errors } = (await look("/errors")) as { errors: { url: string; code: string; error: string }[] };
  expect(errors).toMatchObject([{ url: urls[1], code: "SCRAPE_SITE_ERROR", error: "The server answered 429." }]);
  expect(Object.fromEntries(asked)).toEqual({ "/once": 2, "/always": 3 });
  expect(await caller.closed()).toBe(oneCredit / 1_000n);
});
