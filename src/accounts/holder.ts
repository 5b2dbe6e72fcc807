import type { Policy } from "../auth/index.ts";
import type { Role } from "../core/index.ts";

export type HolderKind = "organisation" | "user";

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
  createdAt: number;
  /** Counts the changes. */
  version: number;
}
