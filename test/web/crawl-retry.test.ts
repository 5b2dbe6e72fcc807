/** Crawls and batches that are started with a retry key. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Caller, expectCleanAudit, oneCredit, post, type Rig, startRig, until } from "../kit/index.ts";
import { startTarget, type Target } from "./target.ts";

const PAGE = oneCredit / 1_000n;

let target: Target;
let rig: Rig;
let caller: Caller;
beforeAll(async () => {
  target = startTarget();
  rig = await startRig({ config: { web: { allow_private_hosts: [target.host], crawl: { pages_per_second: 0 } } } });
  caller = await rig.caller();
});
afterAll(async () => {
  await rig.stop();
  await target.stop();
});

interface Started {
  status: number;
  isReplayed: boolean;
  body: { id?: string; code?: string };
}

interface Start {
  path: string;
  body: object;
  headers: Record<string, string>;
  by?: Caller;
}

async function start({ path, body, headers, by = caller }: Start): Promise<Started> {
  const answer = await post(rig, path, by.token, body, { headers });
  const isReplayed = answer.headers.get("idempotent-replayed") === "true";
  return { status: answer.status, isReplayed, body: (await answer.json()) as Started["body"] };
}

/** The number of completed pages, once the job has ended. */
async function ended(path: string, id: string | undefined): Promise<number> {
  const headers = { authorization: `Bearer ${caller.token}` };
  const job = await until(`the end of ${path}`, async () => {
    const answer = await fetch(`${rig.gateway.url}${path}/${id}`, { headers });
    const body = (await answer.json()) as { status: string; completed: number };
    return body.status === "completed" ? body : undefined;
  });
  return job.completed;
}

describe.each([
  ["/v2/crawl", "idempotency-key", (name: string) => ({ url: target.url(`/${name}`), limit: 1, sitemap: "skip" })],
  ["/v2/batch/scrape", "x-idempotency-key", (name: string) => ({ urls: [target.url(`/${name}`)] })],
] as const)("%s with %s", (path, header, bodyOf) => {
  const name = path.replaceAll("/", "");
  const headers = { [header]: `key of ${name}` };

  test("twenty equal requests at once are one job, charged once; so is a later one", async () => {
    const before = await caller.closed();
    const body = bodyOf(name);
    const racing = await Promise.all(Array.from({ length: 20 }, () => start({ path, body, headers })));
    expect(racing.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(new Set(racing.map((each) => each.body.id)).size).toBe(1);
    expect(racing.filter(({ isReplayed }) => !isReplayed)).toHaveLength(1);
    expect(await ended(path, racing[0]?.body.id)).toBe(1);
    const later = await start({ path, body, headers });
    expect([later.isReplayed, later.body]).toEqual([true, racing[0]?.body ?? {}]);
    expect((await caller.closed()) - before).toBe(PAGE);
    expect(target.requests(`/${name}`)).toBe(1);
    await expectCleanAudit(rig.gateway);
  });

  test("another body is refused; another token's key, and no key, are jobs of their own", async () => {
    const body = bodyOf(name);
    const other = await start({ path, body: { ...body, maxConcurrency: 2 }, headers });
    expect([other.status, other.body.code]).toEqual([409, "idempotency_key_reused"]);
    const first = await start({ path, body, headers });
    const foreign = await start({ path, body, headers, by: await rig.caller() });
    const fresh = await start({ path, body, headers: {} });
    const ids = [first, foreign, fresh].map((each) => each.body.id);
    expect([new Set(ids).size, foreign.isReplayed, fresh.isReplayed]).toEqual([3, false, false]);
    await ended(path, fresh.body.id);
  });

  test("a key that is none is refused", async () => {
    expect((await start({ path, body: bodyOf("x"), headers: { [header]: "k".repeat(256) } })).status).toBe(422);
  });
});
