/** All servers of a node that are programs, on one socket: each at the path of its name. */
import { randomInt } from "node:crypto";
import { chownSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { unprivilegedUser } from "../../core/index.ts";
import { BridgedServer } from "./bridged-server.ts";
import { type ProcessEvent, type ServerPlan, USER_HEADER } from "./plan.ts";
import type { SystemUser } from "./server-process.ts";
import { endOrphans } from "./system-processes.ts";

/** Processes of one server, if each user has one. */
const INSTANCES_MAX = 64;

/** How long calls may go on after their server has left the configuration. */
const RETIRE_MS_MAX = 10_000;

/** How often processes are looked for whose parent has ended, and at the end. */
const SWEEP_MS = 500;
const SWEEP_STEP_MS = 20;
const SWEEPS_MAX = 100;

interface Instance {
  bridge: BridgedServer;
  /** The user that it runs as, and its directory, if the host has chosen them. */
  userId: number | undefined;
  folder: string | undefined;
}

interface HostedServer {
  plan: ServerPlan;
  /** By user; one alone if it is shared. */
  instances: Map<string, Instance>;
}

export class ServerHost {
  readonly #folder: string;
  readonly #report: (event: ProcessEvent) => void;
  /** The processes that it has started, and those of servers that are no longer wanted. */
  readonly #pids = new Set<number>();
  readonly #retiring = new Set<Instance>();
  #sweep: Timer | undefined;
  #servers = new Map<string, HostedServer>();
  #folders = 0;

  /** `folder` is private to the gateway's user, and removed with the host. */
  constructor(folder: string, report: (event: ProcessEvent) => void) {
    this.#folder = folder;
    this.#report = report;
  }

  /** Those that are new start with the first call; those that have changed or are gone are stopped. */
  configure(plans: readonly ServerPlan[]): void {
    const before = this.#servers;
    this.#servers = new Map(
      plans.map((plan) => {
        const known = before.get(plan.name);
        const isSame = known !== undefined && JSON.stringify(known.plan) === JSON.stringify(plan);
        return [plan.name, isSame ? known : { plan, instances: new Map() }];
      }),
    );
    for (const [name, server] of before) {
      if (this.#servers.get(name) === server) continue;
      for (const instance of server.instances.values()) void this.#retire(instance);
    }
  }

  async answer(request: Request): Promise<Response> {
    const server = this.#servers.get(new URL(request.url).pathname.slice(1));
    if (server === undefined) return new Response(undefined, { status: 503 });
    const user = request.headers.get(USER_HEADER) ?? "";
    const instance = this.#instanceOf(server, server.plan.instance === "user" ? user : "");
    return instance?.bridge.answer(request, user) ?? new Response(undefined, { status: 503 });
  }

  async stop(): Promise<void> {
    const all = [...this.#instances(), ...this.#retiring];
    this.#servers = new Map();
    await Promise.all(all.map(({ bridge }) => bridge.retire(0)));
    clearInterval(this.#sweep);
    // Each that ends can leave others behind.
    for (let round = 0; round < SWEEPS_MAX && endOrphans(this.#pids) > 0; round += 1) await Bun.sleep(SWEEP_STEP_MS);
  }

  async #retire(instance: Instance): Promise<void> {
    this.#retiring.add(instance);
    await instance.bridge.retire(RETIRE_MS_MAX);
    this.#retiring.delete(instance);
    removeFolder(instance);
  }

  /** Processes whose parent has ended are looked for while programs run. */
  #beginSweeping(): void {
    this.#sweep ??= setInterval(() => {
      if (endOrphans(this.#pids) > 0 || this.#pids.size > 0) return;
      clearInterval(this.#sweep);
      this.#sweep = undefined;
    }, SWEEP_MS);
  }

  #instances(): Instance[] {
    return [...this.#servers.values()].flatMap(({ instances }) => [...instances.values()]);
  }

  /** Undefined if too many users have a process, or if it cannot be started. */
  #instanceOf({ plan, instances }: HostedServer, user: string): Instance | undefined {
    const known = instances.get(user);
    if (known !== undefined) return known;
    if (instances.size >= INSTANCES_MAX && !forgetUnused(instances)) return undefined;
    try {
      const made = this.#create(plan);
      instances.set(user, made);
      return made;
    } catch (thrown) {
      this.#report({ event: "unusable", server: plan.name, problem: String(thrown) });
      return undefined;
    }
  }

  #create(plan: ServerPlan): Instance {
    const user = plan.user === undefined ? this.#newStranger() : systemUser(plan.user);
    const folder = plan.directory === undefined ? this.#makeFolder(user) : undefined;
    const bridge = this.#bridgeTo(plan, plan.directory ?? folder ?? "", user);
    return { bridge, folder, userId: plan.user === undefined ? user?.id : undefined };
  }

  #bridgeTo(plan: ServerPlan, directory: string, user: SystemUser | undefined): BridgedServer {
    const { name: server } = plan;
    return new BridgedServer({
      plan,
      directory,
      user,
      onStart: (pid) => {
        this.#pids.add(pid);
        this.#beginSweeping();
        this.#report({ event: "started", server, pid });
      },
      onEnd: (end) => {
        this.#pids.delete(end.pid);
        endOrphans(this.#pids);
        this.#report({ event: "ended", server, ...end });
      },
    });
  }

  /** A gateway of root starts no program as root. No other instance's files are the new user's. */
  #newStranger(): SystemUser | undefined {
    const all = [...this.#instances(), ...this.#retiring];
    const taken = new Set(all.flatMap(({ userId }) => userId ?? []));
    const id = unprivilegedUser(() => randomInt(2 ** 32) / 2 ** 32, taken);
    return id === undefined ? undefined : { id, group: id };
  }

  #makeFolder(user: SystemUser | undefined): string {
    const folder = join(this.#folder, `d${(this.#folders += 1)}`);
    mkdirSync(folder, { mode: 0o700 });
    if (user !== undefined) chownSync(folder, user.id, user.group);
    return folder;
  }
}

/** Returns whether one was found that runs nothing. */
function forgetUnused(instances: Map<string, Instance>): boolean {
  for (const [user, instance] of instances) {
    if (instance.bridge.active > 0 || instance.bridge.isRunning) continue;
    // Those who listen to it listen again.
    void instance.bridge.retire(0);
    removeFolder(instance);
    return instances.delete(user);
  }
  return false;
}

function removeFolder({ folder }: Instance): void {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

/** By the name or the id of the user. Throws if there is none. */
function systemUser(user: string): SystemUser {
  for (const line of readFileSync("/etc/passwd", "utf8").split("\n")) {
    const [name, , id, group] = line.split(":");
    if (name === user || id === user) return { id: Number(id), group: Number(group) };
  }
  if (/^\d+$/.test(user)) return { id: Number(user), group: Number(user) };
  throw new Error(`there is no user ${user}`);
}
