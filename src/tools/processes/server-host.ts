/** All servers of a node that are programs, on one socket: each at the path of its name. */
import { randomInt } from "node:crypto";
import { chownSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { unprivilegedUser } from "../../core/index.ts";
import { BridgedServer } from "./bridged-server.ts";
import { type ProcessEvent, type ServerPlan, USER_HEADER } from "./plan.ts";
import type { SystemUser } from "./server-process.ts";

/** Processes of one server, if each user has one. */
const INSTANCES_MAX = 64;

/** How long calls may go on after their server has left the configuration. */
const RETIRE_MS_MAX = 10_000;

interface HostedServer {
  plan: ServerPlan;
  /** By user; one alone if it is shared. */
  instances: Map<string, BridgedServer>;
}

export class ServerHost {
  readonly #folder: string;
  readonly #report: (event: ProcessEvent) => void;
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
      for (const instance of server.instances.values()) void instance.retire(RETIRE_MS_MAX);
    }
  }

  async answer(request: Request): Promise<Response> {
    const server = this.#servers.get(new URL(request.url).pathname.slice(1));
    if (server === undefined) return new Response(undefined, { status: 503 });
    const user = request.headers.get(USER_HEADER) ?? "";
    const instance = this.#instanceOf(server, server.plan.instance === "user" ? user : "");
    return instance === undefined ? new Response(undefined, { status: 503 }) : instance.answer(request, user);
  }

  async stop(): Promise<void> {
    const all = this.#instances();
    this.#servers = new Map();
    await Promise.all(all.map((instance) => instance.retire(0)));
  }

  /** Without waiting for anything. */
  kill(): void {
    for (const instance of this.#instances()) instance.kill();
  }

  #instances(): BridgedServer[] {
    return [...this.#servers.values()].flatMap(({ instances }) => [...instances.values()]);
  }

  /** Undefined if too many users have a process, or if it cannot be started. */
  #instanceOf({ plan, instances }: HostedServer, user: string): BridgedServer | undefined {
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

  #create(plan: ServerPlan): BridgedServer {
    const { name: server } = plan;
    const user = plan.user === undefined ? strangerOf() : systemUser(plan.user);
    return new BridgedServer({
      plan,
      directory: plan.directory ?? this.#makeFolder(user),
      user,
      onStart: (pid) => this.#report({ event: "started", server, pid }),
      onEnd: (end) => this.#report({ event: "ended", server, ...end }),
    });
  }

  #makeFolder(user: SystemUser | undefined): string {
    const folder = join(this.#folder, `d${(this.#folders += 1)}`);
    mkdirSync(folder, { mode: 0o700 });
    if (user !== undefined) chownSync(folder, user.id, user.group);
    return folder;
  }
}

/** Returns whether one was found that runs nothing. */
function forgetUnused(instances: Map<string, BridgedServer>): boolean {
  for (const [user, instance] of instances) {
    if (instance.active === 0 && !instance.isRunning) return instances.delete(user);
  }
  return false;
}

/** A gateway of root starts no program as root. */
function strangerOf(): SystemUser | undefined {
  const id = unprivilegedUser(() => randomInt(2 ** 32) / 2 ** 32);
  return id === undefined ? undefined : { id, group: id };
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
