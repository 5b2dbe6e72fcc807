import { SQL } from "bun";
import { expect, test } from "bun:test";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGateway, until } from "../kit/index.ts";
import { startPostgres } from "../kit/postgres.ts";

const providers = {};

test("a gateway on SQLite is ready", async () => {
  const gateway = await startGateway({ providers });
  try {
    const ready = await fetch(`${gateway.url}/health/ready`);
    expect([ready.status, await ready.json()]).toEqual([200, { status: "ready" }]);
  } finally {
    await gateway.stop();
  }
});

test("a gateway whose Postgres is away lives, is not ready, and is ready again afterwards", async () => {
  const server = await startPostgres();
  const gateway = await startGateway({ providers, storage: await server.createDatabase() });
  const ready = () => fetch(`${gateway.url}/health/ready`);
  try {
    expect((await ready()).status).toBe(200);
    await server.crash();
    const refused = await until("the gateway notices", async () => {
      const answer = await ready();
      return answer.status === 503 && answer;
    });
    expect(await refused.json()).toMatchObject({ error: { code: "storage_unavailable" } });
    expect(refused.headers.get("retry-after")).toBe("1");
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
    await server.start();
    await until("the gateway is ready again", async () => (await ready()).status === 200);
  } finally {
    await gateway.stop();
    await server.stop();
  }
});

test("a gateway whose Postgres takes no writes is not ready", async () => {
  const server = await startPostgres();
  const storage = await server.createDatabase();
  const gateway = await startGateway({ providers, storage });
  const ready = () => fetch(`${gateway.url}/health/ready`);
  const database = new URL(storage).pathname.slice(1);
  /** As on a replica, for connections from now on. */
  const setReadOnly = async (value: "on" | "off"): Promise<void> => {
    const connection = new SQL({ url: storage, adapter: "postgres", max: 1 });
    await connection.unsafe("SET default_transaction_read_only = off");
    await connection.unsafe(`ALTER DATABASE "${database}" SET default_transaction_read_only = ${value}`);
    await connection.unsafe(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    await connection.close();
  };
  try {
    expect((await ready()).status).toBe(200);
    await setReadOnly("on");
    const refused = await until("the gateway notices", async () => {
      const answer = await ready();
      return answer.status === 503 && answer;
    });
    expect(await refused.json()).toMatchObject({ error: { code: "storage_unavailable" } });
    await setReadOnly("off");
    await until("the gateway is ready again", async () => (await ready()).status === 200);
  } finally {
    await gateway.stop();
    await server.stop();
  }
});

const mounts = process.getuid?.() === 0 && Bun.which("mount") !== null;
test.skipIf(!mounts)("a gateway whose disk is full is not ready (needs root)", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-disk-"));
  const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder]);
  if (mounted.exitCode !== 0) {
    console.log("skipped: this system mounts nothing");
    rmSync(folder, { recursive: true });
    return;
  }
  try {
    const gateway = await startGateway({ providers, storage: `sqlite:${join(folder, "t.db")}` });
    const ready = () => fetch(`${gateway.url}/health/ready`);
    expect((await ready()).status).toBe(200);
    fill(join(folder, "filler"));
    const refused = await until("the gateway notices", async () => {
      const answer = await ready();
      return answer.status === 503 && answer;
    });
    expect(await refused.json()).toMatchObject({ error: { code: "storage_unavailable" } });
    rmSync(join(folder, "filler"));
    await until("the gateway is ready again", async () => (await ready()).status === 200);
    await gateway.stop();
  } finally {
    Bun.spawnSync(["umount", "-l", folder]);
    rmSync(folder, { recursive: true });
  }
});

/** Writes until no byte is left. */
function fill(path: string): void {
  for (const size of [65_536, 512, 1]) {
    try {
      for (;;) appendFileSync(path, Buffer.alloc(size));
    } catch {
      // Full, for pieces of this size.
    }
  }
}
