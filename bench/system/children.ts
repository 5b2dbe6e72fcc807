import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pidsOfTree } from "./processes.ts";

type Child = Bun.Subprocess<"pipe" | "ignore", "pipe" | number, number>;

const stopMs = 5_000;

const memoryMount = "/dev/shm";

/** Everything the benchmark leaves behind while it runs: child processes and directories of temporary files. */
export class Children {
  readonly directory = mkdtempSync(join(tmpdir(), "tollgate-bench-"));
  readonly #running = new Set<Child>();
  #memoryDirectory: string | null = null;

  constructor() {
    process.on("exit", () => this.#killNow());
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(signal, () => process.exit(signal === "SIGINT" ? 130 : 143));
    }
  }

  /** A directory of files that never wait for a disk. */
  memoryDirectory(): string {
    return (this.#memoryDirectory ??= mkdtempSync(join(memoryMount, "tollgate-bench-")));
  }

  /** A server under test. Its output goes to `NAME.log` in the directory, as it would go to a file in production. */
  startServer(name: string, command: string[], environment: Record<string, string>): ServerProcess {
    const log = join(this.directory, `${name}.log`);
    const file = openSync(log, "a");
    const startedAt = performance.now();
    const child = Bun.spawn(command, {
      cwd: this.directory,
      env: { ...process.env, ...environment },
      stdin: "ignore",
      stdout: file,
      stderr: file,
    });
    closeSync(file);
    this.#add(child);
    return new ServerProcess(child, startedAt, name, log);
  }

  /** One of the benchmark's own processes, spoken to over stdin and stdout. */
  startHelper(command: string[]): HelperProcess {
    const child = Bun.spawn(command, { cwd: this.directory, stdin: "pipe", stdout: "pipe", stderr: 2 });
    this.#add(child);
    return child;
  }

  #add(child: Child): void {
    this.#running.add(child);
    void child.exited.then(() => this.#running.delete(child));
  }

  /** The last resort, also after Ctrl-C: whole trees, because a killed parent would leave its workers behind. */
  #killNow(): void {
    for (const child of this.#running) pidsOfTree(child.pid).forEach(killPid);
    for (const directory of [this.directory, this.#memoryDirectory]) {
      if (directory !== null) rmSync(directory, { recursive: true, force: true });
    }
  }
}

export type HelperProcess = Bun.Subprocess<"pipe", "pipe", number>;

export class ServerProcess {
  readonly pid: number;
  /** When the start was asked for, by `performance.now()`. */
  readonly startedAt: number;
  readonly #child: Child;
  readonly #name: string;
  readonly #log: string;

  constructor(child: Child, startedAt: number, name: string, log: string) {
    this.pid = child.pid;
    this.startedAt = startedAt;
    this.#child = child;
    this.#name = name;
    this.#log = log;
  }

  /** Throws with the end of the log when the process has ended. */
  assertRunning(): void {
    if (this.#child.exitCode === null && this.#child.signalCode === null) return;
    const code = this.#child.exitCode ?? this.#child.signalCode;
    throw new Error(`${this.#name} ended with ${code}: ${this.logTail()}`);
  }

  logTail(): string {
    return readFileSync(this.#log, "utf8").slice(-2_000).trim();
  }

  /** Asks first, kills the whole tree after a while. Takes the log away: a line a request fills a disk in many rounds. */
  async stop(): Promise<void> {
    const tree = pidsOfTree(this.pid);
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => tree.forEach(killPid), stopMs);
    await this.#child.exited;
    clearTimeout(timer);
    rmSync(this.#log, { force: true });
  }
}

function killPid(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended in between.
  }
}
