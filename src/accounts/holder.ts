import { ownerOfProject, type Policy, projectOf } from "../auth/index.ts";
import type { Nano, Role } from "../core/index.ts";

export type HolderKind = "organisation" | "user" | "project";

/** The most that tokens of an organisation's users may have, unless an owner makes them; undefined members bound nothing. */
export interface TokenPolicy {
  /** Tokens of one user that can be used. */
  maxTokens?: number | undefined;
  /** From the making or the change on. */
  maxExpiresMs?: number | undefined;
  /** In all, without a period. */
  maxBudget?: Nano | undefined;
}

/** An organisation, a user or a project: who holds an account, and tokens. Its policy narrows those of all tokens below it. */
export interface Holder extends Policy {
  kind: HolderKind;
  /** Never changes, and is never given again. It owns records; of most it is the first name. */
  id: string;
  name: string;
  /** Undefined but of a user. */
  role: Role | undefined;
  /** That a user or a project belongs to. */
  organisationId: string | undefined;
  /** Undefined of a user who has only service tokens. */
  accountId: string | undefined;
  disabledAt: number | undefined;
  deletedAt: number | undefined;
  /** Of an organisation. With one, its users may make their own tokens. */
  tokenPolicy?: TokenPolicy | undefined;
  /** Of an organisation: the keys of its calls' tags, sorted. */
  tags?: readonly string[] | undefined;
  /** The ids of a project's members, who see what belongs to it and have its tokens, in their order. Undefined of others. */
  members?: readonly string[] | undefined;
  createdAt: number;
  /** Counts the changes. */
  version: number;
}

/** Whose account it is. */
export type AccountLevel = HolderKind | "token";

/** A holder whose tokens make calls. */
export type OwnerKind = Exclude<HolderKind, "organisation">;

/** As whose the records of calls with a holder's tokens are stored. */
export function ownerOf({ kind, id }: Pick<Holder, "kind" | "id">): string {
  return kind === "project" ? ownerOfProject(id) : id;
}

/** The user or project by the owner of records. */
export function ownerPlace(owner: string): { kind: OwnerKind; id: string } {
  const project = projectOf(owner);
  return project === undefined ? { kind: "user", id: owner } : { kind: "project", id: project };
}

const titles = { organisation: "an organisation", user: "a user", project: "a project" } as const;

/** The kind with its article, for messages. */
export function oneOfKind(kind: HolderKind): string {
  return titles[kind];
}
