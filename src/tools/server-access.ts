import type { McpClient } from "./client/mcp-client.ts";

/** A server that takes requests of the protocol. */
export type ToolSource = Pick<McpClient, "request"> & Partial<Pick<McpClient, "listen">>;

/** Who lists or calls tools. */
export interface ToolCaller {
  /** The id of the user who owns the calls. */
  user: string;
  /** The account that the caller has named for a server; undefined for the user's default one. */
  accountAt: (server: string) => string | undefined;
  /** That of an identity provider by which the caller has come in; undefined for a token of the gateway. */
  signedToken?: string | undefined;
}

/** How a caller reaches a server: with the operator's credentials, or with their own. */
export interface ServerAccess {
  /** Callers with the same key see the same list. Empty for the operator's credentials. */
  key: string;
  /** Whose pins count; empty for the operator's. */
  owner: string;
  /** Answers lists. */
  lists: ToolSource;
  /** Answers calls. Never shared by users with credentials of their own. */
  calls: ToolSource;
  /** Tells changes, if that is another than the one that answers lists; its key is that of the callers who hear of them. */
  changes?: { key: string; source: ToolSource };
  /** The forms of all credentials in use, which no result may repeat. */
  secrets: () => readonly string[];
}

/** Undefined if the caller has no credentials for the server. */
export type AccessTo = (caller: ToolCaller) => ServerAccess | undefined | Promise<ServerAccess | undefined>;
