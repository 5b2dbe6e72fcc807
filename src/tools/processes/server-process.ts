/** One process of a server that speaks over its standard input and output, a message of JSON a line. */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { readdirSync, readFileSync } from "node:fs";
import { type JsonObject, parseObject } from "../../core/index.ts";
import type { ServerPlan } from "./plan.ts";

const COMMAND_MAIN = fileURLToPath(new URL("command-main.ts", import.meta.url));

const NEWLINE = 10;
const LAST_WORDS_MAX = 2_000;

/** Bytes that wait because the process does not read them. */
const WAITING_BYTES_MAX = 32 * 1024 * 1024;

/** Between the end of the input, SIGTERM and SIGKILL. */
const STOP_STEP_MS = 2_000;
const WATCH_MS = 500;

export interface SystemUser {
  id: number;
  group: number;
}

export interface CommandStart {
  user?: SystemUser | undefined;
  /** Whether it must not run as any other. */
  isUserWanted: boolean;
  openFiles: number;
  directory: string;
}

export interface ProcessOptions {
  plan: ServerPlan;
  directory: string;
  user: SystemUser | undefined;
  onMessage: (message: JsonObject) => void;
  onEnd: (end: { code: number | null; signal: string | null; lastWords: string }) => void;
}

export class ServerProcess {
  readonly #options: ProcessOptions;
  readonly #child: Bun.Subprocess<"pipe", "pipe", "pipe">;
  readonly ended: Promise<void>;
  #lastWords = "";
  #waitingBytes = 0;
  #isStopping = false;

  constructor(options: ProcessOptions) {
    this.#options = options;
    const { plan, directory, user } = options;
    const how: CommandStart = {
      user,
      isUserWanted: plan.user !== undefined,
      openFiles: plan.limits.open_files,
      directory,
    };
    const file = Bun.which(plan.command, { PATH: plan.env["PATH"] ?? "", cwd: directory }) ?? plan.command;
    this.#child = Bun.spawn([process.execPath, COMMAND_MAIN, JSON.stringify(how), file, ...plan.args], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
      // A group of its own, so that it ends with all that it starts. Bun would read a .env file of the working directory.
      detached: true,
      cwd: dirname(COMMAND_MAIN),
      env: { HOME: directory, TMPDIR: directory, LANG: "C.UTF-8", ...plan.env },
    });
    this.ended = this.#follow();
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Ends the process if it does not read. */
  send(message: JsonObject): void {
    const text = `${JSON.stringify(message)}\n`;
    this.#waitingBytes += text.length;
    if (this.#waitingBytes > WAITING_BYTES_MAX) return this.kill();
    const written = async (): Promise<void> => {
      try {
        void this.#child.stdin.write(text);
        await this.#child.stdin.flush();
      } catch {
        // It has ended, which its exit shows.
      } finally {
        this.#waitingBytes -= text.length;
      }
    };
    void written();
  }

  /** The end of its input asks it to end; what is left of its group is killed. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const timers = [
      setTimeout(() => this.#signal("SIGTERM"), STOP_STEP_MS),
      setTimeout(() => this.kill(), 2 * STOP_STEP_MS),
    ];
    try {
      await this.#child.stdin.end();
    } catch {
      // It has ended already.
    }
    await this.ended;
    for (const timer of timers) clearTimeout(timer);
  }

  kill(): void {
    this.#signal("SIGKILL");
  }

  #signal(signal: "SIGTERM" | "SIGKILL"): void {
    killGroup(this.pid, signal);
  }

  async #follow(): Promise<void> {
    const watch = setInterval(() => this.#watch(), WATCH_MS);
    void this.#read(this.#child.stdout).catch(() => this.kill());
    void this.#listen(this.#child.stderr).catch(() => undefined);
    await this.#child.exited;
    clearInterval(watch);
    // Those that it has started.
    this.kill();
    const { exitCode: code, signalCode: signal } = this.#child;
    this.#options.onEnd({
      code,
      signal: this.#isStopping || signal === null ? null : String(signal),
      lastWords: this.#lastWords,
    });
  }

  #watch(): void {
    const { memory, processes } = this.#options.plan.limits;
    const group = useOfGroup(this.pid);
    if (group === undefined || (group.residentBytes <= memory && group.processes <= processes)) return;
    this.#lastWords += `\nended: it has ${group.processes} processes and ${group.residentBytes} bytes of memory`;
    this.kill();
  }

  async #read(output: ReadableStream<Uint8Array>): Promise<void> {
    const lines = new LineReader(this.#options.plan.messageBytesMax, (line) => {
      const message = parseObject(line);
      // Programs print other things too.
      if (message?.["jsonrpc"] === "2.0") this.#options.onMessage(message);
    });
    for await (const bytes of output) lines.push(bytes);
  }

  async #listen(output: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of output)
      this.#lastWords = (this.#lastWords + decoder.decode(bytes, { stream: true })).slice(-LAST_WORDS_MAX);
  }
}

class LineReader {
  readonly #bytesMax: number;
  readonly #onLine: (line: string) => void;
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  constructor(bytesMax: number, onLine: (line: string) => void) {
    this.#bytesMax = bytesMax;
    this.#onLine = onLine;
  }

  /** Throws if a line is too long. */
  push(bytes: Uint8Array): void {
    let rest = bytes;
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      this.#add(rest.subarray(0, end));
      const line = Buffer.concat(this.#pieces).toString();
      [this.#pieces, this.#bytes] = [[], 0];
      rest = rest.subarray(end + 1);
      if (line !== "") this.#onLine(line);
    }
    if (rest.length > 0) this.#add(rest);
  }

  #add(piece: Uint8Array): void {
    this.#bytes += piece.length;
    if (this.#bytes > this.#bytesMax) throw new Error("a message is too long");
    this.#pieces.push(piece);
  }
}

/** Sends a signal to a process and all that it has started in its group. */
export function killGroup(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // None is left.
  }
}

const PAGE_BYTES = 4096;

/** Fields of `/proc/<pid>/stat` after the name of the program: the group, and the resident pages. */
const [groupField, pagesField] = [2, 21];

interface GroupUse {
  residentBytes: number;
  processes: number;
}

let groups: { readAt: number; uses: ReadonlyMap<number, GroupUse> } = { readAt: -Infinity, uses: new Map() };

/** The processes of a group and their memory; undefined if that cannot be read. All groups are read at once. */
function useOfGroup(group: number): GroupUse | undefined {
  if (process.platform !== "linux") return undefined;
  const now = performance.now();
  if (now - groups.readAt > WATCH_MS / 2) groups = { readAt: now, uses: readGroups() };
  return groups.uses.get(group);
}

function readGroups(): ReadonlyMap<number, GroupUse> {
  const uses = new Map<number, GroupUse>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const fields = fieldsOf(name);
    const group = fields[groupField] ?? 0;
    const use = uses.get(group) ?? { residentBytes: 0, processes: 0 };
    use.processes += 1;
    use.residentBytes += (fields[pagesField] ?? 0) * PAGE_BYTES;
    uses.set(group, use);
  }
  return uses;
}

function fieldsOf(pid: string): number[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ", pagesField + 1)
      .map(Number);
  } catch {
    return [];
  }
}
