/** The blocks of docs/backup.md, as an operator runs them: a backup beside a gateway that takes calls, a crash, a restore. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Storage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import {
  type Gateway,
  letLeasesLapse,
  oneCredit,
  oneCreditACall,
  type PostgresServer,
  postChat,
  query,
  root,
  startGateway,
  startPostgres,
  until,
  userBooks,
} from "../kit/index.ts";

/** The blocks below a heading: the backup, then the restore. */
function blocksOf(heading: string): [backup: string, restore: string] {
  const page = readFileSync(join(root, "docs/backup.md"), "utf8");
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
  const [backup, restore, ...more] = Array.from(section.matchAll(/```sh\n([^]*?)```/g), ([, text = ""]) => text);
  if (backup === undefined || restore === undefined || more.length > 0) throw new Error(`two blocks below ${heading}`);
  return [backup, restore];
}

/** Postgres with its programs for backups, which npm's lacks: the newest of this machine. */
function findPostgres(): string | undefined {
  const versions = "/usr/lib/postgresql";
  const folders = existsSync(versions) ? readdirSync(versions).map((version) => join(versions, version)) : [];
  const found = Bun.which("pg_dump");
  if (found !== null) folders.push(dirname(dirname(found)));
  const whole = folders.filter((folder) =>
    ["postgres", "initdb", "pg_dump", "pg_restore", "createdb"].every((name) => existsSync(join(folder, "bin", name))),
  );
  return whole.toSorted((one, other) => one.localeCompare(other, "en", { numeric: true })).at(-1);
}

const tools = findPostgres();
if (tools === undefined) console.log("skipped: the backup of Postgres (no server with pg_dump on this machine)");
const hasSqlite = Bun.which("sqlite3") !== null;
if (!hasSqlite) console.log("skipped: the backup of SQLite (no sqlite3 on this machine)");

/** Answers a chat; a stream begins and goes no further. */
function startUpstream() {
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const choices = [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }];
  return Bun.serve({
    port: 0,
    async fetch(request) {
      const { stream } = (await request.json()) as { stream?: boolean };
      if (stream !== true) return Response.json({ id: "c", object: "chat.completion", model: "m", choices, usage });
      const chunk = {
        id: "c",
        object: "chat.completion.chunk",
        model: "m",
        choices: [{ index: 0, delta: { content: "…" } }],
      };
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(`data: ${JSON.stringify(chunk)}\n\n`),
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  });
}

const body = { model: "openai/m", messages: [{ role: "user", content: "Hello" }] };

let home: string;
let upstream: ReturnType<typeof startUpstream>;
let gateways: Gateway[];
let storages: Storage[];

async function opened(url: string): Promise<Storage> {
  const storage = await openStorage(url);
  storages.push(storage);
  return storage;
}

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "tollgate-backup-"));
  mkdirSync(join(home, "data"));
  mkdirSync(join(home, "bin"));
  writeFileSync(join(home, "bin/npx"), `#!/bin/sh\nshift\nexec ${join(root, "bin/tollgate")} "$@"\n`);
  chmodSync(join(home, "bin/npx"), 0o755);
  upstream = startUpstream();
  gateways = [];
  storages = [];
});
afterEach(async () => {
  for (const gateway of gateways) {
    gateway.process.kill("SIGKILL");
    await gateway.process.exited;
    await gateway.storage.close();
  }
  for (const storage of storages) await storage.close();
  await upstream.stop(true);
  rmSync(home, { recursive: true, force: true });
});

async function start(storage: string): Promise<Gateway> {
  const providers = { openai: { kind: "openai", base_url: `${upstream.url.href}v1`, api_key: "k" } };
  const config = { storage, ...oneCreditACall };
  const gateway = await startGateway({ providers, config, storage, folder: home });
  gateways.push(gateway);
  return gateway;
}

async function runBlock(text: string, variables: Record<string, string> = {}): Promise<void> {
  const path = [join(home, "bin"), tools === undefined ? "" : join(tools, "bin"), process.env["PATH"]].join(":");
  const child = Bun.spawn(["sh", "-eu", "-c", text], {
    cwd: home,
    env: { PATH: path, HOME: home, TMPDIR: tmpdir(), ...variables },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  expect({ code, printed: stdout + stderr }).toMatchObject({ code: 0 });
}

interface Case {
  heading: string;
  storage: string;
  restored: string;
  variables?: Record<string, string>;
}

/** Five calls and an open stream, of which a backup has the first three and the stream. */
async function backUpAndRestore({ heading, storage, restored, variables }: Case): Promise<void> {
  const [backup, restore] = blocksOf(heading);
  const first = await start(storage);
  const token = await first.token({ user: "alice" });
  const chat = async (gateway: Gateway) => (await postChat(gateway, token, body)).status;
  for (let call = 0; call < 3; call += 1) expect(await chat(first)).toBe(200);
  const stream = await postChat(first, token, { ...body, stream: true });
  await stream.body?.getReader().read();
  await runBlock(backup, variables);
  expect([await chat(first), await chat(first)]).toEqual([200, 200]);
  const late = await first.token({ user: "alice" });
  first.process.kill("SIGKILL");
  await first.process.exited;
  await first.storage.close();
  gateways.pop();

  await runBlock(restore, variables);
  // The stream's hold has no process any more.
  await letLeasesLapse(await opened(restored));
  const second = await start(restored);
  await until("the hold has ended", async () => (await userBooks(second, "alice")).held === 0n);
  const { spent = 0n } = await userBooks(second, "alice");
  expect([3n * oneCredit, 4n * oneCredit]).toContain(spent);
  expect((await postChat(second, late, body)).status).toBe(401);
  expect(await chat(second)).toBe(200);
  expect((await userBooks(second, "alice")).spent).toBe(spent + oneCredit);
  expect((await second.cli("ledger", "audit")).code).toBe(0);
}

test.skipIf(!hasSqlite)("SQLite", async () => {
  const storage = `sqlite:${join(home, "data/tollgate.db")}`;
  await backUpAndRestore({ heading: "SQLite", storage, restored: storage });
  expect(readdirSync(join(home, "backup"))).toContain("tollgate.db");
});

describe.skipIf(tools === undefined)("Postgres", () => {
  let server: PostgresServer;
  beforeEach(async () => {
    server = await startPostgres({ binaries: tools ?? "" });
  });
  afterEach(() => server.stop());

  test("is dumped and restored into a new database", async () => {
    const storage = await server.createDatabase();
    const restored = storage.replace(/\/[^/]+$/, "/tollgate_restored");
    const variables = { DATABASE_URL: storage, RESTORED_URL: restored };
    await backUpAndRestore({ heading: "Postgres", storage, restored, variables });
    // What the database refuses there, it refuses here too.
    const attempt = query(await opened(restored), "DELETE FROM entries");
    expect(await attempt.then(JSON.stringify, String)).toContain("only appended");
  });
});
