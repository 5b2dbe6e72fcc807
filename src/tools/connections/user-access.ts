/** How users reach a server with credentials of their own: each connection has a list, a client and a session of its own. */
import { type AskUpstream, GatewayError } from "../../core/index.ts";
import { SecretError } from "../../storage/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { secretForms } from "../clean-result.ts";
import { RecentMap } from "../recent-map.ts";
import type { ServerAccess, ToolCaller, ToolSource } from "../server-access.ts";
import { type ToolConnection, DEFAULT_ACCOUNT, usedConnection } from "./connection.ts";
import type { Connections } from "./connections.ts";
import { askWith, type ServerCredentials } from "./credentials.ts";

/** Connections of a server whose clients are remembered. */
const ACCESSES_MAX = 1_000;

/** The credentials of one connection. */
export interface UserCredentials extends ServerCredentials {
  /** Takes the connection as the storage has it now. Throws a `SecretError` if it cannot be opened. */
  see(connection: ToolConnection): void;
  /** All that no result may repeat. */
  secrets(): readonly string[];
}

interface UserAccessOptions {
  /** The name of the server. */
  name: string;
  connections: Connections;
  /** Whether each user has accounts of their own, or all use the operator's. */
  of: "operator" | "user";
  ask: AskUpstream;
  /** A client of the server. */
  sourceWith: (ask: AskUpstream) => ToolSource;
  credentialsOf: (connection: ToolConnection) => UserCredentials;
  logger: Pick<Logger, "warn">;
}

interface Known {
  access: ServerAccess;
  credentials: UserCredentials;
}

export class UserAccess {
  readonly #options: UserAccessOptions;
  readonly #known = new RecentMap<Known>(ACCESSES_MAX);

  constructor(options: UserAccessOptions) {
    this.#options = options;
  }

  /** Undefined if the caller has given no credentials. */
  async of({ user, accountAt }: ToolCaller): Promise<ServerAccess | undefined> {
    const { name, connections, of, logger } = this.#options;
    const isOfAll = of === "operator";
    const found = await connections.store.at({ server: name, owner: isOfAll ? "" : user });
    const connection = usedConnection(found, isOfAll ? undefined : accountAt(name));
    if (connection?.status !== "connected") return undefined;
    try {
      return this.#accessOf(connection);
    } catch (thrown) {
      if (!(thrown instanceof SecretError)) throw thrown;
      logger.warn(
        { server: name, connection: connection.id, reason: thrown.message },
        "credentials of a user can't be opened",
      );
      return undefined;
    }
  }

  #accessOf(connection: ToolConnection): ServerAccess {
    // Other credentials of the same owner may belong to another account at the server.
    const key = `${connection.id}.${connection.connectedAt ?? 0}`;
    const known = this.#known.use(key, () => this.#make(key, connection));
    known.credentials.see(connection);
    return known.access;
  }

  #make(key: string, connection: ToolConnection): Known {
    const { ask, sourceWith, credentialsOf } = this.#options;
    const credentials = credentialsOf(connection);
    const source = sourceWith(askWith(ask, credentials));
    const owner =
      connection.account === DEFAULT_ACCOUNT ? connection.owner : `${connection.owner}/${connection.account}`;
    return { credentials, access: { key, owner, lists: source, calls: source, secrets: () => credentials.secrets() } };
  }
}

/** A secret that the user has given, in a header. */
export class HeaderCredentials implements UserCredentials {
  readonly #options: { header: string; server: string; connections: Connections };
  #connection: ToolConnection;
  #headers: Readonly<Record<string, string>> = {};
  #secrets: readonly string[] = [];

  constructor(connection: ToolConnection, options: { header: string; server: string; connections: Connections }) {
    this.#options = options;
    this.#connection = connection;
    this.#open(connection);
  }

  see(connection: ToolConnection): void {
    if (connection.version === this.#connection.version) return;
    this.#open(connection);
  }

  headers(): Promise<Readonly<Record<string, string>>> {
    return Promise.resolve(this.#headers);
  }

  /** The owner has to give another one. A 403 may be about the call alone. */
  refused({ status }: { status: number }): Promise<boolean> {
    if (status !== 401) return Promise.resolve(false);
    const { server, connections } = this.#options;
    return Promise.reject(
      new ConnectionRequiredError(server, connections.pageOf(this.#connection), "refuses your credentials"),
    );
  }

  secrets(): readonly string[] {
    return this.#secrets;
  }

  #open(connection: ToolConnection): void {
    const { header, connections } = this.#options;
    const secret = connections.credentialsOf(connection);
    // A token alone is that of a bearer.
    const isToken = header.toLowerCase() === "authorization" && !secret.includes(" ");
    this.#headers = { [header]: isToken ? `Bearer ${secret}` : secret };
    this.#secrets = secretForms([secret, secret.replace(/^(?:Bearer|Basic|Token) /i, "")]);
    this.#connection = connection;
  }
}

/** A call needs an account at the server. */
export class ConnectionRequiredError extends GatewayError {
  /** The page of the connection. */
  readonly url: string;

  constructor(server: string, url: string, problem = "needs an account of yours") {
    super("connection_required", `The server ${server} ${problem}. Connect it at ${url}`);
    this.url = url;
  }
}
