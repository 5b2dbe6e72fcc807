/** Crawls and batches that are started with a retry key. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type Caller,
  expectCleanAudit,
  oneCredit,
  post,
  query,
  queryWeb,
  type Rig,
  startRig,
  until,
} from "../kit/index.ts";
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
  requestId: string | null;
  firstId: string | null;
  retryAfter: string | null;
  text: string;
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
  const [requestId, firstId] = [answer.headers.get("x-request-id"), answer.headers.get("x-tollgate-first-request-id")];
  const retryAfter = answer.headers.get("retry-after");
  const text = await answer.text();
  return {
    status: answer.status,
    isReplayed,
    requestId,
    firstId,
    retryAfter,
    text,
    body: JSON.parse(text) as Started["body"],
  };
}

/** Starts the same job many times at once; those that come while the first start runs are repeated, as SDKs do. */
function startedAtOnce(count: number, request: Start): Promise<Started[]> {
  const startOnce = (): Promise<Started> =>
    until("the first start", async () => {
      const started = await start(request);
      if (started.status === 200) return started;
      expect([started.status, started.body.code, started.retryAfter]).toEqual([409, "idempotency_key_in_use", "1"]);
      return undefined;
    });
  return Promise.all(Array.from({ length: count }, startOnce));
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
    const racing = await startedAtOnce(20, { path, body, headers });
    expect(new Set(racing.map((each) => each.body.id)).size).toBe(1);
    expect(racing.filter(({ isReplayed }) => !isReplayed)).toHaveLength(1);
    expect(await ended(path, racing[0]?.body.id)).toBe(1);
    const later = await start({ path, body, headers });
    const first = racing.find(({ isReplayed }) => !isReplayed);
    expect(new Set([...racing, later].map(({ text }) => text)).size).toBe(1);
    expect(new Set([...racing, later].map(({ firstId }) => firstId))).toEqual(new Set([null, first?.requestId ?? ""]));
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

  test("a key whose job is no longer kept starts another one, which it has from then on", async () => {
    const own = { [header]: `expiring key of ${name}` };
    const body = bodyOf(`${name}-expiring`);
    const first = await start({ path, body, headers: own });
    await ended(path, first.body.id);
    await queryWeb(rig.gateway.storage, `UPDATE crawls SET expires_at = 1 WHERE id = '${first.body.id}'`);
    const racing = await startedAtOnce(5, { path, body, headers: own });
    const ids = new Set(racing.map((each) => each.body.id));
    expect([ids.size, ids.has(first.body.id)]).toEqual([1, false]);
    expect(racing.filter(({ isReplayed }) => !isReplayed)).toHaveLength(1);
    const [id] = ids;
    await ended(path, id);
    expect((await start({ path, body, headers: own })).body.id).toBe(id);
  });

  /** A start of which `lost` was not stored when its process died, nor the end of its hold. */
  async function diedBefore(own: Record<string, string>, lost: readonly string[]): Promise<Started> {
    const first = await start({ path, body: bodyOf(`${name}-interrupted`), headers: own });
    await ended(path, first.body.id);
    const { storage } = rig.gateway;
    for (const table of lost) {
      await queryWeb(
        storage,
        `DELETE FROM ${table} WHERE ${table === "crawls" ? "id" : "crawl_id"} = '${first.body.id}'`,
      );
    }
    const at = Date.now();
    await query(
      storage,
      `INSERT INTO holds (id, account_id, amount, operation, provider, model, lease_until, created_at)
        SELECT hold_id, account_id, 0, 'crawl', 'web', 'native', ${at + 60_000}, ${at} FROM retry_keys WHERE hold_id = '${first.requestId}'`,
    );
    return first;
  }

  test("a start whose process died before its job was created has its key until its lease is over", async () => {
    const own = { [header]: `interrupted key of ${name}` };
    const body = bodyOf(`${name}-interrupted`);
    const first = await diedBefore(own, ["crawl_pages", "crawl_lanes", "crawl_results", "crawls"]);
    const again = await start({ path, body, headers: own });
    expect([again.status, again.body.code, again.retryAfter]).toEqual([409, "idempotency_key_in_use", "1"]);
    await query(rig.gateway.storage, `DELETE FROM holds WHERE id = '${first.requestId}'`);
    const later = await start({ path, body, headers: own });
    expect([later.status, later.isReplayed, later.body.id === first.body.id]).toEqual([200, false, false]);
    expect(await ended(path, later.body.id)).toBe(1);
    await expectCleanAudit(rig.gateway);
  });

  test("a start whose process died before its pages were stored is completed by the next request, under the same id", async () => {
    const own = { [header]: `half key of ${name}` };
    const first = await diedBefore(own, ["crawl_pages", "crawl_lanes", "crawl_results"]);
    const { storage } = rig.gateway;
    // The results of a crawl that has ended are kept for a shorter time than a crawl may run.
    const running = Date.now() + 3 * 24 * 3_600_000;
    await queryWeb(
      storage,
      `UPDATE crawls SET state = 'scraping', discovered = 0, completed = 0, ended_at = NULL, expires_at = ${running} WHERE id = '${first.body.id}'`,
    );
    const again = await start({ path, body: bodyOf(`${name}-interrupted`), headers: own });
    expect([again.isReplayed, again.text]).toEqual([true, first.text]);
    expect(await ended(path, first.body.id)).toBe(1);
    await query(storage, `DELETE FROM holds WHERE id = '${first.requestId}'`);
    await expectCleanAudit(rig.gateway);
  });

  test("a start costs nothing, leaves no record, and needs no credits or rate of its own", async () => {
    const poor = { ...caller, token: await rig.gateway.token({ user: `poor-${name}`, credits: 0n }) };
    const started = await start({ path, body: bodyOf(`${name}-poor`), headers: { [header]: "k" }, by: poor });
    expect(started.status).toBe(200);
    expect(await query(rig.gateway.storage, `SELECT id FROM generations WHERE id = '${started.requestId}'`)).toEqual(
      [],
    );
    expect(await query(rig.gateway.storage, `SELECT id FROM holds WHERE id = '${started.requestId}'`)).toEqual([]);
  });

  test("a key that is none is refused", async () => {
    expect((await start({ path, body: bodyOf("x"), headers: { [header]: "k".repeat(256) } })).status).toBe(422);
  });
});
