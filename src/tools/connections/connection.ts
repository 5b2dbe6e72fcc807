/** The account of a user at a server of tools. */
export interface ToolConnection {
  id: string;
  server: string;
  /** The user; empty if it is the operator's, for all. */
  owner: string;
  /** The owner's name for one of several accounts. */
  account: string;
  status: ConnectionStatus;
  /** The credentials, encrypted. */
  sealed: string | undefined;
  /** Of the credentials: rises with each change. */
  version: number;
  /** A process renews the credentials until then, in milliseconds since the epoch. */
  renewalUntil: number | undefined;
  createdAt: number;
  /** When the owner has given the present credentials; a renewal leaves it. */
  connectedAt: number | undefined;
}

/** `expired`: the server takes the credentials no longer, and the owner has to give others. */
export type ConnectionStatus = "pending" | "connected" | "expired";

/** The account that a call uses if it names none. */
export const DEFAULT_ACCOUNT = "default";

/** Which connection is meant. */
export type ConnectionPlace = Pick<ToolConnection, "server" | "owner" | "account">;

/** The one that a call uses: the named account, else the default one, else the only one. */
export function usedConnection<One extends Pick<ToolConnection, "account">>(
  found: readonly One[],
  account: string | undefined,
): One | undefined {
  const wanted = account ?? DEFAULT_ACCOUNT;
  const named = found.find((each) => each.account === wanted);
  return named ?? (account === undefined && found.length === 1 ? found[0] : undefined);
}
