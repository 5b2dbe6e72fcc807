/** The accounts of users at servers of tools: who has which, and their credentials, which are stored encrypted alone. */
import type { ActOptions, AuditLog, NoteChange } from "../../audit/index.ts";
import { type Clock, GatewayError, type RandomBytes, randomId } from "../../core/index.ts";
import { type EncryptionKey, secretBox, type SecretBox, SecretError, type Steps } from "../../storage/index.ts";
import type { ToolConnection, ConnectionPlace } from "./connection.ts";
import { connect, type ConnectionStore, connectionsOf, deleteConnection, insertConnection } from "./sql/open.ts";

/** The most of one owner at one server. */
const ACCOUNTS_MAX = 20;

/** It is in the addresses of pages, and too long to be guessed. */
const ID_CHARACTERS = 24;

/** How a user connects an account. */
export interface ConnectingOptions extends ActOptions {
  /** Runs within the act, and throws if it is not permitted. */
  check?: () => Steps<void>;
}

export interface ConnectionsOptions {
  store: ConnectionStore;
  log: AuditLog;
  key: EncryptionKey;
  clock: Clock;
  randomBytes: RandomBytes;
  /** The address for callers, without a slash at its end. */
  publicUrl: string;
}

export class Connections {
  readonly store: ConnectionStore;
  readonly #options: ConnectionsOptions;

  constructor(options: ConnectionsOptions) {
    this.store = options.store;
    this.#options = options;
  }

  /** The page on which the owner gives credentials. Who has the address alone can do nothing there. */
  pageOf({ id }: Pick<ToolConnection, "id">): string {
    return `${this.#options.publicUrl}/console/connections/${id}`;
  }

  /** The connection of this place, which is made without credentials if there is none. Rejects with 409 if there are too many. */
  open(place: ConnectionPlace, { check, ...act }: ConnectingOptions): Promise<ToolConnection> {
    const opened = this.#opened(place);
    return this.#options.log.act(act, function* (note) {
      if (check !== undefined) yield* check();
      return yield* opened(note);
    });
  }

  /** Stores a secret of the owner as the credentials of this place. Rejects as `open` does. */
  give(place: ConnectionPlace, secret: string, { check, ...act }: ConnectingOptions): Promise<ToolConnection> {
    const opened = this.#opened(place);
    const at = this.#options.clock();
    const sealed = this.seal(secret, placeText(place));
    return this.#options.log.act(act, function* (note) {
      if (check !== undefined) yield* check();
      const connection = yield* opened(note);
      return yield* connected(connection, { sealed, at }, note);
    });
  }

  /** Rejects if the caller may not connect an account. */
  permit({ check, ...act }: Required<Pick<ConnectingOptions, "check">> & ActOptions): Promise<void> {
    return this.#options.log.act(act, () => check());
  }

  /** Stores credentials that a sign-in of the owner has got. Rejects with 404 if the connection was deleted meanwhile. */
  complete(
    { id, ...place }: ConnectionPlace & Pick<ToolConnection, "id">,
    secret: string,
    { check, ...act }: ConnectingOptions,
  ): Promise<ToolConnection> {
    const at = this.#options.clock();
    const sealed = this.seal(secret, placeText(place));
    return this.#options.log.act(act, function* (note) {
      if (check !== undefined) yield* check();
      const found = (yield* connectionsOf(place.owner)).find((each) => each.id === id);
      if (found === undefined) throw new GatewayError("object_not_found", "There is no such connection here.");
      return yield* connected(found, { sealed, at }, note);
    });
  }

  /** Resolves with the deleted connection; undefined if the owner has none with this id. */
  remove(
    { id, owner }: Pick<ToolConnection, "id" | "owner">,
    { check, ...act }: ConnectingOptions,
  ): Promise<ToolConnection | undefined> {
    return this.#options.log.act(act, function* (note) {
      const found = yield* deleteConnection({ id, owner });
      if (found === undefined) return undefined;
      if (check !== undefined) yield* check();
      note({
        act: "tool_connection.delete",
        target: `tool_connection:${id}`,
        before: { ...shown(found), status: found.status },
      });
      return found;
    });
  }

  /** The credentials of a connection. Throws a `SecretError` if they cannot be opened. */
  credentialsOf({ sealed, ...place }: ConnectionPlace & Pick<ToolConnection, "sealed">): string {
    if (sealed === undefined) throw new SecretError("the connection has no credentials");
    return this.unseal(sealed, placeText(place));
  }

  /** The stored form of a connection's credentials. */
  sealFor(place: ConnectionPlace, credentials: string): string {
    return this.seal(credentials, placeText(place));
  }

  /** Encrypts a text, bound to another: with any other it does not open. */
  seal(text: string, bound: string): string {
    return this.#box().seal(text, bound, this.#options.randomBytes);
  }

  /** Throws a `SecretError` if it was encrypted with another key, was bound to another text, or was changed. */
  unseal(sealed: string, bound: string): string {
    return this.#box().open(sealed, bound);
  }

  #opened(place: ConnectionPlace): (note: NoteChange) => Steps<ToolConnection> {
    const { clock, randomBytes } = this.#options;
    const id = `connection_${randomId(randomBytes, ID_CHARACTERS)}`;
    const createdAt = clock();
    return function* (note) {
      const own = (yield* connectionsOf(place.owner)).filter(({ server }) => server === place.server);
      const known = own.find(({ account }) => account === place.account);
      if (known !== undefined) return known;
      if (own.length >= ACCOUNTS_MAX)
        throw new GatewayError(
          "account_conflict",
          `There are ${ACCOUNTS_MAX} accounts at ${place.server}, which is the most: delete one first.`,
          { param: "account" },
        );
      const connection: ToolConnection = {
        ...place,
        id,
        status: "pending",
        sealed: undefined,
        version: 0,
        renewalUntil: undefined,
        createdAt,
        connectedAt: undefined,
      };
      yield* insertConnection(connection);
      note({ act: "tool_connection.create", target: `tool_connection:${id}`, after: shown(place) });
      return connection;
    };
  }

  #box(): SecretBox {
    const text = this.#options.key.findOrMake();
    if (text === undefined)
      throw new SecretError("there is no key for users' credentials: set webhooks.encryption_key");
    return secretBox(text, {
      label: "tollgate credentials at servers of tools",
      noun: "credentials",
      remedy: "connect the account again",
    });
  }
}

function* connected(
  { id, status, ...place }: ToolConnection,
  given: { sealed: string; at: number },
  note: NoteChange,
): Steps<ToolConnection> {
  yield* connect(id, given);
  note({ act: "tool_connection.connect", target: `tool_connection:${id}`, before: { status }, after: shown(place) });
  const found = (yield* connectionsOf(place.owner)).find((each) => each.id === id);
  if (found === undefined) throw new Error("a connection was lost within its act");
  return found;
}

/** ServerCredentials are bound to it: those of another row do not open. */
function placeText({ owner, server, account }: ConnectionPlace): string {
  return `${owner}/${server}/${account}`;
}

/** For the audit log. */
function shown({ owner, server, account }: ConnectionPlace) {
  return { user_id: owner, server, account };
}
