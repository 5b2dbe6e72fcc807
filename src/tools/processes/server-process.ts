/** One process of a server that speaks over its standard input and output, a message of JSON a line. */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { type JsonObject, parseObject } from "../../core/index.ts";
import type { ServerPlan } from "./plan.ts";
import { signalTree, systemProcesses, treeOf } from "./system-processes.ts";

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
        const { stdin } = this.#child;
        // Either may be the one that waits, and fails if the program does not read.
        await Promise.all([stdin.write(text), stdin.flush()]);
      } catch {
        // It has ended, which its exit shows.
      } finally {
        this.#waitingBytes -= text.length;
      }
    };
    void written();
  }

  /** The end of its input asks it to end; what is left of it and of all that it has started is killed. */
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
    signalTree(this.pid, signal);
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
    const tree = treeOf(this.pid, systemProcesses());
    const bytes = tree.reduce((sum, { residentBytes }) => sum + residentBytes, 0);
    if (bytes <= memory && tree.length <= processes) return;
    this.#lastWords += `\nended: it has ${tree.length} processes and ${bytes} bytes of memory`;
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
