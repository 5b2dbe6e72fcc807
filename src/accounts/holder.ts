import type { Role } from "../core/index.ts";

export type HolderKind = "organisation" | "user";

/** An organisation or a user: who holds an account, and tokens. Times are milliseconds since the epoch. */
export interface Holder {
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
  createdAt: number;
  /** Counts the changes. */
  version: number;
}
