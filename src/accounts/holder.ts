import type { Policy } from "../auth/index.ts";
import type { Nano, Role } from "../core/index.ts";

export type HolderKind = "organisation" | "user";

/** The most that tokens of an organisation's users may have, unless an owner makes them; undefined members bound nothing. */
export interface TokenPolicy {
  /** Tokens of one user that can be used. */
  maxTokens?: number | undefined;
  /** From the making or the change on. */
  maxExpiresMs?: number | undefined;
  /** In all, without a period. */
  maxBudget?: Nano | undefined;
}

/** An organisation or a user: who holds an account, and tokens. Its policy narrows those of all tokens below it. */
export interface Holder extends Policy {
  kind: HolderKind;
  /** Never changes, and is never given again. It owns records; of most it is the first name. */
  id: string;
  name: string;
  /** Undefined of an organisation. */
  role: Role | undefined;
  /** That a user belongs to. */
  organisationId: string | undefined;
  /** Undefined of a user who has only service tokens. */
  accountId: string | undefined;
  disabledAt: number | undefined;
  deletedAt: number | undefined;
  /** Of an organisation. With one, its users may make their own tokens. */
  tokenPolicy?: TokenPolicy | undefined;
  createdAt: number;
  /** Counts the changes. */
  version: number;
}

/** Whose account it is. */
export type AccountLevel = "organisation" | "user" | "token";
