/** The gateway's side of the process that owns the servers of tools that are programs: one for all workers of a node. */
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { hideFromOthers } from "../../core/index.ts";
import { linesOf } from "../../streaming/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { cleanText, secretForms, secretsIn } from "../clean-result.ts";
import { type HostAddress, type HostOrders, type ProcessEvent, type ServerPlan, socketIn } from "./plan.ts";
import { signalTree } from "./system-processes.ts";

const HOST_MAIN = fileURLToPath(new URL("host-main.ts", import.meta.url));

const PAUSE_MS_MIN = 100;
const PAUSE_MS_MAX = 10_000;

/** How long the host may take to stop all servers. */
const STOP_MS_MAX = 15_000;

type HostProcess = Bun.Subprocess<"pipe", "pipe", "inherit">;

export class ToolHost {
  readonly #logger: Logger;
  /** Created with the first server. Short, since the path of a socket is. */
  readonly #folder = join(tmpdir(), `tollgate-t-${randomBytes(6).toString("hex")}`);
  readonly #secret = randomBytes(32).toString("base64url");
  readonly #pids = new Set<number>();
  #plans: readonly ServerPlan[] = [];
  #process: HostProcess | undefined;
  #restart: Timer | undefined;
  #pauseMs = PAUSE_MS_MIN;
  #isStopped = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** The socket that it listens on while there are servers. */
  get address(): HostAddress {
    return { socket: socketIn(this.#folder), secret: this.#secret };
  }

  /** Puts the servers of a configuration into force. */
  configure(plans: readonly ServerPlan[]): void {
    this.#plans = plans;
    if (plans.length > 0) hideFromOthers();
    if (this.#process !== undefined) this.#send(this.#process);
    else if (plans.length > 0 && this.#restart === undefined) this.#start();
  }

  /** Resolves when no server runs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#restart);
    const child = this.#process;
    if (child !== undefined) {
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX);
      try {
        await child.stdin.end();
      } catch {
        // It has ended already.
      }
      await child.exited;
      clearTimeout(timer);
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #start(): void {
    this.#restart = undefined;
    if (!existsSync(this.#folder)) createFolder(this.#folder);
    rmSync(this.address.socket, { force: true });
    const child: HostProcess = Bun.spawn([process.execPath, HOST_MAIN, this.#folder], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
      // None of the gateway's variables, some of which are keys. Bun would read a .env file of the working directory.
      env: { LANG: "C.UTF-8" },
      cwd: dirname(HOST_MAIN),
    });
    this.#process = child;
    this.#send(child);
    void this.#follow(child);
  }

  #send(child: HostProcess): void {
    const sent = async (): Promise<void> => {
      try {
        const orders: HostOrders = { secret: this.#secret, plans: this.#plans };
        await Promise.all([child.stdin.write(`${JSON.stringify(orders)}\n`), child.stdin.flush()]);
      } catch {
        // It has ended, and gets the list when it is started again.
      }
    };
    void sent();
  }

  async #follow(child: HostProcess): Promise<void> {
    const startedAt = performance.now();
    await this.#read(child.stdout).catch(() => undefined);
    const code = await child.exited;
    this.#process = undefined;
    // It has ended them itself, unless it was killed.
    for (const pid of this.#pids) signalTree(pid, "SIGKILL");
    this.#pids.clear();
    if (this.#isStopped) return;
    if (performance.now() - startedAt > PAUSE_MS_MAX) this.#pauseMs = PAUSE_MS_MIN;
    this.#logger.warn({ code, again_in_ms: this.#pauseMs }, "the process with the servers of tools ended");
    this.#restart = setTimeout(() => this.#start(), this.#pauseMs);
    this.#pauseMs = Math.min(2 * this.#pauseMs, PAUSE_MS_MAX);
  }

  async #read(output: ReadableStream<Uint8Array>): Promise<void> {
    for await (const line of linesOf(output)) this.#note(JSON.parse(line) as ProcessEvent);
  }

  #note({ event, server, pid, code, signal, isExpected, lastWords = "", problem }: ProcessEvent): void {
    if (event === "unusable") return this.#logger.warn({ server, problem }, "a server of tools cannot be started");
    if (pid === undefined) return;
    if (event === "started") {
      this.#pids.add(pid);
      return this.#logger.info({ server, pid }, "a server of tools was started");
    }
    this.#pids.delete(pid);
    if (isExpected === true) return this.#logger.info({ server, pid }, "a server of tools was stopped");
    const secrets = secretForms(secretsIn(this.#plans.find(({ name }) => name === server)?.env ?? {}));
    const line = { server, pid, code, signal, stderr: cleanText(lastWords, secrets) };
    this.#logger.warn(line, "a server of tools ended");
  }
}

function createFolder(folder: string): void {
  mkdirSync(folder);
  // Programs run as other users, and have directories of their own in it. The socket is for the gateway's user alone.
  chmodSync(folder, 0o711);
  mkdirSync(dirname(socketIn(folder)), { mode: 0o700 });
}
