import { join } from "node:path";

/** A server of tools that is a program: how it is started, and within which bounds. */
export interface ServerPlan {
  name: string;
  command: string;
  args: readonly string[];
  /** Its variables, besides `HOME`, `TMPDIR` and `LANG`. `PATH` leads to its program. */
  env: Readonly<Record<string, string>>;
  /** Its working directory; without it, one of its own that is removed with the gateway. */
  directory?: string | undefined;
  /** The name or the id of the user that it runs as. */
  user?: string | undefined;
  /** One process for all callers, or one for each user. */
  instance: "shared" | "user";
  limits: { memory: number; open_files: number; processes: number };
  /** Milliseconds without a call after which it is stopped. */
  idle: number;
  /** The longest message that it may send, in bytes. */
  messageBytesMax: number;
}

/** A change of a process; `lastWords` is the end of its standard error. */
export interface ProcessEvent {
  event: "started" | "ended" | "unusable";
  server: string;
  pid?: number;
  code?: number | null;
  signal?: string | null;
  isExpected?: boolean;
  lastWords?: string;
  problem?: string;
}

/** What the host is given, and again with each change. */
export interface HostOrders {
  /** Requests have to contain it: programs that run as the gateway's user can reach the socket. */
  secret: string;
  plans: readonly ServerPlan[];
}

/** How the host is reached. */
export interface HostAddress {
  socket: string;
  secret: string;
}

/** Names the user that a request is made for, on the socket of the host. */
export const USER_HEADER = "x-tollgate-user";
export const SECRET_HEADER = "x-tollgate-secret";

/** On an answer that began before the program got the call, which waits for its turn: what comes first in its body is sent after that. */
export const WAITING_HEADER = "x-tollgate-waiting";

/** Sent to those who listen whenever a process of the program is ready. */
export const STARTED_NOTIFICATION = "notifications/tollgate/started";

/** The path of the host's socket in its folder. */
export function socketIn(folder: string): string {
  return join(folder, "own", "socket");
}
