/** The bound of a user's stored results. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { post, type Rig, startRig, until } from "../kit/index.ts";
import { startTarget, type Target } from "./target.ts";

let target: Target;
let rig: Rig;
let token: string;
beforeAll(async () => {
  target = startTarget();
  const crawl = { pages_per_second: 0, connections_per_host: 16, bytes_per_user: "2KiB" };
  rig = await startRig({ config: { web: { allow_private_hosts: [target.host], crawl } } });
  ({ token } = await rig.caller());
});
afterAll(async () => {
  await rig.stop();
  await target.stop();
});

async function start(paths: readonly string[]): Promise<string> {
  const urls = paths.map((path) => target.url(path));
  const started = await post(rig, "/v2/batch/scrape", token, { urls });
  return ((await started.json()) as { id: string }).id;
}

interface Job {
  http: number;
  status?: string;
  data?: unknown[];
  completed?: number;
  error?: string;
}

async function jobOf(id: string): Promise<Job> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${rig.gateway.url}/v2/batch/scrape/${id}`, { headers });
  return { http: answer.status, ...((await answer.json()) as object) };
}

test("a running crawl beyond it ends with what it has, which makes room for the next", async () => {
  const many = Array.from({ length: 15 }, (_, index) => `/pages/${index}`);
  const large = await start([...many, "/gate/never"]);
  await until("it has ended", async () => (await jobOf(large)).status !== "scraping", 30_000);
  const ended = await jobOf(large);
  expect(ended).toMatchObject({ status: "failed", error: "The results of your crawls take too much room." });
  // Those that were read before the bound was noticed: on a fast machine all fifteen.
  expect(ended.completed).toBeWithin(1, 16);
  expect(ended.data).toHaveLength(ended.completed ?? 0);
  const small = await start(["/small"]);
  await until("it has ended", async () => (await jobOf(small)).status === "completed", 30_000);
  await until("the first one is gone", async () => (await jobOf(large)).http === 404, 30_000);
  expect((await jobOf(small)).data).toHaveLength(1);
  await rig.expectBalancedBooks();
});
