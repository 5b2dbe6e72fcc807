/** Jobs of several processes on one storage, with processes that are killed or paused, and jobs that kill their process. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type JobStore, openJobStore } from "../../src/jobs/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import { type Engine, engines, query, sharedPostgres, until } from "../kit/index.ts";

const JOBS = 60;
const RUNS_OF_EACH = 3;
const WAIT_MS_MAX = 30_000;

type Node = Bun.Subprocess<"pipe", "inherit", "pipe">;

interface RunRow {
  job: string;
  node: string;
  what: "begin" | "end" | "aborted" | "given up";
  attempts: bigint;
  at: bigint;
}

const { createDatabase } = sharedPostgres();
/** The events of all processes in their order. */
const runsTable = {
  SQLite: `CREATE TABLE runs (number INTEGER PRIMARY KEY, job TEXT, node TEXT, what TEXT, attempts INTEGER, at INTEGER)`,
  Postgres: `CREATE TABLE runs (number bigint GENERATED ALWAYS AS IDENTITY, job text, node text, what text, attempts bigint, at bigint)`,
};

describe.each(engines)("on %s", (engine: Engine) => {
  let folder: string;
  let url: string;
  let storage: Storage;
  let store: JobStore;
  let nodes: Node[];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-nodes-"));
    url = engine === "Postgres" ? await createDatabase() : `sqlite:${join(folder, "jobs.db")}`;
    storage = await openStorage(url);
    store = openJobStore(storage);
    nodes = [];
    await query(storage, runsTable[engine]);
    await query(storage, "CREATE TABLE gates (node text)");
  });
  afterEach(async () => {
    for (const node of nodes) node.kill("SIGKILL");
    await Promise.all(nodes.map((node) => node.exited));
    await storage.close();
    rmSync(folder, { recursive: true });
  });

  function start(name: string): Node {
    const script = new URL("./__fixtures__/node.ts", import.meta.url).pathname;
    const node = Bun.spawn([process.execPath, script, url, name], { stdin: "pipe", stdout: "inherit", stderr: "pipe" });
    nodes.push(node);
    return node;
  }

  /** Lets it drain; resolves with its standard error. */
  async function stop(node: Node): Promise<string> {
    await node.stdin.end();
    expect(await node.exited).toBe(0);
    return node.stderr.text();
  }

  const rows = async (): Promise<RunRow[]> => [...(await query<RunRow>(storage, "SELECT * FROM runs ORDER BY number"))];
  const steps = async (): Promise<string[]> => (await rows()).map(({ node, what }) => `${node} ${what}`);
  const seen = (step: string) => until(step, async () => (await steps()).includes(step), WAIT_MS_MAX);
  const put = (id: string, payload: Record<string, unknown>) =>
    store.put({ id, kind: "work", owner: "u", payload, runAt: 0, createdAt: 0 });

  test("several nodes never run one job at the same time, and run each as often as it asks", async () => {
    const ids = Array.from({ length: JOBS }, (_each, index) => `job-${index}`);
    const others = [start("a"), start("b"), start("c")];
    await until(
      "all of them run",
      async () => {
        for (const id of ids) await put(id, { left: RUNS_OF_EACH - 1 });
        return new Set((await rows()).map(({ node }) => node)).size === 3;
      },
      WAIT_MS_MAX,
    );
    await until(
      "all jobs are done",
      async () => {
        const [left] = await query<{ jobs: bigint }>(storage, "SELECT count(*) AS jobs FROM jobs");
        return left?.jobs === 0n;
      },
      WAIT_MS_MAX,
    );
    for (const node of others) expect(await stop(node)).toBe("");
    const all = await rows();
    for (const id of ids) {
      const own = all.filter(({ job }) => job === id);
      // A job that is put again after it was done runs as often again.
      expect(own.length % (2 * RUNS_OF_EACH)).toBe(0);
      expect(own.length).toBeGreaterThan(0);
      for (let index = 0; index < own.length; index += 2) {
        const [begin, end] = own.slice(index, index + 2);
        expect([begin?.what, end?.what, end?.node]).toEqual(["begin", "end", begin?.node]);
        expect(begin?.attempts).toBe(1n);
      }
    }
  });

  test("the job of a killed node is taken over after its lease, not before", async () => {
    await put("a", { do: "wait" });
    const first = start("first");
    await seen("first begin");
    first.kill("SIGKILL");
    await first.exited;
    const { lease } = (await store.find("a")) ?? {};
    await query(storage, "INSERT INTO gates VALUES ('second')");
    const second = start("second");
    await seen("second end");
    expect(await stop(second)).toBe("");
    expect(await steps()).toEqual(["first begin", "second begin", "second end"]);
    const [, begin] = await rows();
    expect(begin?.attempts).toBe(2n);
    expect(Number(begin?.at)).toBeGreaterThan(lease?.until ?? Number.NaN);
    expect(await store.find("a")).toBeUndefined();
  });

  test("the result of a paused node is ignored once another node has taken the job", async () => {
    await put("a", { do: "wait", left: 1 });
    const paused = start("paused");
    await seen("paused begin");
    paused.kill("SIGSTOP");
    const other = start("other");
    await seen("other begin");
    const taken = await store.find("a");
    expect(taken).toMatchObject({ attempts: 2, lease: { node: "other" }, payload: { left: 1 } });
    paused.kill("SIGCONT");
    await seen("paused aborted");
    await query(storage, "INSERT INTO gates VALUES ('paused')");
    await seen("paused end");
    expect(await stop(paused)).toBe("");
    // Only renewed.
    expect(await store.find("a")).toMatchObject({
      attempts: 2,
      lease: { token: taken?.lease?.token },
      payload: { left: 1 },
    });
    await query(storage, "INSERT INTO gates VALUES ('other')");
    await until("it is done", async () => (await store.find("a")) === undefined, WAIT_MS_MAX);
    expect(await stop(other)).toBe("");
    expect((await steps()).filter((step) => step.startsWith("other"))).toEqual([
      "other begin",
      "other end",
      "other begin",
      "other end",
    ]);
  });

  test("a job that kills its process is given up after attemptsMax processes", async () => {
    await put("poison", { do: "die" });
    for (const name of ["first", "second"]) {
      const victim = start(name);
      await victim.exited;
      expect(victim.signalCode).toBe("SIGKILL");
    }
    const third = start("third");
    await seen("third given up");
    await until("it is gone", async () => (await store.find("poison")) === undefined, WAIT_MS_MAX);
    expect(await stop(third)).toBe("");
    expect(await steps()).toEqual(["first begin", "second begin", "third given up"]);
  });
});
