import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CheckpointPlan } from "./checkpoint-protocol.ts";
import { Checkpointer } from "./checkpointer.ts";
import { countClosed, countOpened } from "./descriptors.ts";
import { readWal } from "./wal.ts";

/** Each test waits for conditions only, which take as long as the machine's other work lets them. */
/** The server's plan with other numbers: thousands of times less to write. */
const plan: CheckpointPlan = {
  startBytes: 64 * 1_024,
  passBytes: 64 * 1_024,
  restartBytes: 256 * 1_024,
  watchMs: 1,
  checkMs: 1,
  retryMs: 1,
  replaceMs: 1,
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A connection with a checkpointer, whose commits never make a checkpoint themselves. */
class Store {
  readonly handle: Database;
  readonly logged: string[] = [];
  readonly #path: string;
  readonly #checkpointer: Checkpointer;
  #isOpen = true;
  rows = 0;

  constructor(path: string) {
    this.#path = path;
    this.handle = new Database(path, { create: true });
    this.handle.run("PRAGMA busy_timeout = 5000");
    this.handle.run("PRAGMA journal_mode = WAL");
    this.handle.run("PRAGMA synchronous = NORMAL");
    this.handle.run("PRAGMA wal_autocheckpoint = 0");
    this.handle.run("CREATE TABLE IF NOT EXISTS pieces (number INTEGER PRIMARY KEY, content BLOB) STRICT");
    countOpened(path);
    const write = (_: object, message: string): void => void this.logged.push(message);
    const log = { info: write, warn: write };
    this.#checkpointer = new Checkpointer({ handle: this.handle, path, log, plan });
  }

  /** Commits a row of eight pages and gives other work a turn. */
  async write(): Promise<void> {
    this.handle.query("INSERT INTO pieces (content) VALUES (zeroblob(32768))").run();
    this.rows += 1;
    await turn();
  }

  async writeUntil(condition: () => boolean): Promise<void> {
    while (!condition()) await this.write();
  }

  /** How often the log has been restarted, as its header counts. */
  restarts(): number {
    return readFileSync(`${this.#path}-wal`).readUInt32BE(12);
  }

  logBytes(): number {
    return statSync(`${this.#path}-wal`).size;
  }

  stop(): Promise<void> | undefined {
    return this.#checkpointer.stop();
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.stop();
    this.handle.close();
    countClosed(this.#path);
  }
}

let folder: string;
let path: string;
let stores: Store[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-checkpoint-"));
  path = join(folder, "t.db");
  stores = [];
});
afterEach(async () => {
  for (const store of stores) await store.close();
  rmSync(folder, { recursive: true });
});

function open(): Store {
  const store = new Store(path);
  stores.push(store);
  return store;
}

/** Opens the file as a later start would: the rows, once SQLite has found the file consistent. */
function rowsAfterRestart(): number {
  const database = new Database(path);
  expect(database.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
  const row = database.query<{ rows: number }, []>("SELECT count(*) AS rows FROM pieces").get();
  database.close();
  return row?.rows ?? 0;
}

describe("under continuous commits", () => {
  test("the log is restarted again and again, so its file is shorter than everything that was written", async () => {
    const store = open();
    // On a busy machine, one pass may take as long as all others.
    // Two passes may restart it with little between them, so what went through it is counted too.
    const written = () => store.rows * 32_768;
    await store.writeUntil(
      () => store.restarts() >= 5 && written() > Math.max(store.logBytes(), 5 * plan.restartBytes),
    );
    expect(store.logged).toEqual([]);
    await store.close();
    expect(rowsAfterRestart()).toBe(store.rows);
  });

  test("checkpoints are not mistaken for another process's commits", async () => {
    const store = open();
    const version = (): unknown => store.handle.query("PRAGMA data_version").get();
    const before = version();
    await store.writeUntil(() => store.restarts() >= 2);
    expect(version()).toEqual(before);
  });

  test("two servers on one file share it", async () => {
    const [first, second] = [open(), open()];
    while (first.restarts() < 5) {
      await first.write();
      await second.write();
    }
    expect([...first.logged, ...second.logged]).toEqual([]);
    await first.close();
    await second.close();
    expect(rowsAfterRestart()).toBe(first.rows + second.rows);
  });

  test("a reader of old rows delays the restart until its end, and nothing else", async () => {
    const store = open();
    await store.writeUntil(() => store.restarts() >= 1);
    const reader = new Database(path);
    reader.run("BEGIN");
    const seen = reader.query("SELECT count(*) FROM pieces").values();
    // The next commit may still restart the log, if this reader found everything copied.
    await store.write();
    const restarts = store.restarts();
    const length = store.logBytes();
    await store.writeUntil(() => store.logBytes() > length + 4 * plan.restartBytes);
    expect(store.restarts()).toBe(restarts);
    expect(reader.query("SELECT count(*) FROM pieces").values()).toEqual(seen);
    reader.run("ROLLBACK");
    reader.close();
    await store.writeUntil(() => store.restarts() > restarts);
    expect(store.logged).toEqual([]);
  });
});

describe("a checkpoint that fails", () => {
  test("is logged once and retried, while commits go on", async () => {
    const store = open();
    // The connection keeps its files; the worker finds none.
    renameSync(path, `${path}.moved`);
    await store.writeUntil(() => store.logged.length > 0);
    const { rows } = store;
    await store.writeUntil(() => store.rows === rows + 50);
    expect(store.logged).toEqual(["checkpoint failed, will be retried"]);
    renameSync(`${path}.moved`, path);
    await store.writeUntil(() => store.restarts() >= 2);
    expect(store.logged).toEqual(["checkpoint failed, will be retried", "checkpoints succeed again"]);
    await store.close();
    expect(rowsAfterRestart()).toBe(store.rows);
  });
});

describe("the end", () => {
  test("of a checkpointer leaves a file without uncopied commits, and no worker", async () => {
    const store = open();
    await store.writeUntil(() => store.restarts() >= 1);
    await store.stop();
    const { frames, copied } = readWal(store.handle);
    expect(copied).toBe(frames);
    expect(store.stop()).toBeUndefined();
  });

  test("waits for nobody if little was written", async () => {
    const store = open();
    await store.write();
    expect(store.stop()).toBeUndefined();
  });

  test("of one connection leaves the locks of others in the same process", async () => {
    const [first, second] = [open(), open()];
    await first.writeUntil(() => first.restarts() >= 1);
    await first.close();
    await second.write();
    // A process that is the last to close a file removes its log. This one is not the last.
    const source = `
      const database = new (require("bun:sqlite").Database)(${JSON.stringify(path)});
      database.run("INSERT INTO pieces (content) VALUES (zeroblob(1))");
      database.close();
    `;
    const other = Bun.spawn([process.execPath, "-e", source], { stdio: ["ignore", "inherit", "inherit"] });
    expect(await other.exited).toBe(0);
    expect(existsSync(`${path}-wal`)).toBe(true);
    await second.write();
    expect(readWal(second.handle).frames).toBeGreaterThan(0);
  });
});

/** A program with a handle on the file, its checkpointer, and a function that commits a row of eight pages. */
function programOf(rest: string): string {
  return `
    const { Checkpointer } = await import(${JSON.stringify(join(import.meta.dir, "checkpointer.ts"))});
    const { countOpened } = await import(${JSON.stringify(join(import.meta.dir, "descriptors.ts"))});
    const { readFileSync, writeSync } = require("node:fs");
    const path = ${JSON.stringify(path)};
    const handle = new (require("bun:sqlite").Database)(path);
    handle.run("PRAGMA wal_autocheckpoint = 0");
    countOpened(path);
    const log = { info() {}, warn(fields) { console.error(fields) } };
    const checkpointer = new Checkpointer({ handle, path, log, plan: ${JSON.stringify(plan)} });
    const write = async () => {
      const { lastInsertRowid } = handle.query("INSERT INTO pieces (content) VALUES (zeroblob(32768))").run();
      writeSync(1, lastInsertRowid + "\\n");
      await new Promise(setImmediate);
    };
    const restarts = () => readFileSync(path + "-wal").readUInt32BE(12);
    ${rest}
  `;
}

describe("a process", () => {
  beforeEach(() => open().close());

  test("that is killed while the log is copied and restarted loses no commit", async () => {
    for (let kills = 1; kills <= 5; kills += 1) {
      const program = programOf("for (;;) await write();");
      const child = Bun.spawn([process.execPath, "-e", program], { stdio: ["ignore", "pipe", "pipe"] });
      let printed = "";
      const decoder = new TextDecoder();
      let start: number | undefined;
      for await (const bytes of child.stdout) {
        printed += decoder.decode(bytes, { stream: true });
        const restarts = readFileSync(`${path}-wal`).readUInt32BE(12);
        start ??= restarts;
        if (restarts >= start + 3) child.kill("SIGKILL");
      }
      await child.exited;
      expect(await new Response(child.stderr).text()).toBe("");
      const committed = Number(printed.split("\n").at(-2));
      // The last commit may have been made, but not printed.
      expect(rowsAfterRestart()).toBeWithin(committed, committed + 2);
    }
  });

  test.each([
    ["closes the file", "await checkpointer.stop(); handle.close();", 0],
    ["exits", "process.exit(3);", 3],
    ["comes to its end", "", 0],
  ])("that %s does not stay for its worker", async (_, end, code) => {
    const program = programOf(`do await write(); while (restarts() < 2); ${end}`);
    const child = Bun.spawn([process.execPath, "-e", program], { stdio: ["ignore", "pipe", "pipe"] });
    const [printed, complaint] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect([await child.exited, complaint]).toEqual([code, ""]);
    expect(rowsAfterRestart()).toBe(Number(printed.split("\n").at(-2)));
  });
});
