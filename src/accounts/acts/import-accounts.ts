/** Accounts of another gateway: holders, tokens with the keys that callers go on using, and budgets with their running spend. */
import type { NoteChange } from "../../audit/index.ts";
import {
  endImportedKey,
  endSessionsOfKey,
  insertImportedKey,
  type Policy,
  type TokenRecord,
} from "../../auth/index.ts";
import type { Nano } from "../../core/index.ts";
import { addBudgetSteps, type BudgetRequest } from "../budgets/budgets.ts";
import type { AccountsDependencies } from "../dependencies.ts";
import { type AccountLevel, type HolderKind, ownerOf, type OwnerKind } from "../holder.ts";
import { tokenSettingsOf } from "../settings.ts";
import { requireFewBudgets } from "../sql/budgets-beside.ts";
import { findHolder } from "../sql/holders.ts";
import { findImported, insertImported, workingKeys } from "../sql/imports.ts";
import { findToken } from "../sql/tokens.ts";
import type { Steps } from "../../storage/index.ts";
import { type ActContext, actOptions } from "./act-context.ts";
import { addSteps } from "./create-holder.ts";
import { issueToSteps } from "./issue-token.ts";

/** A holder or a token by its id at the other gateway. */
interface Foreign<Kind extends AccountLevel = AccountLevel> {
  kind: Kind;
  foreignId: string;
}

type ImportedPolicy = Omit<Policy, "tools">;

export interface ImportedHolder extends Foreign<HolderKind>, ImportedPolicy {
  name: string;
  /** The foreign id of the organisation of a user or a project. */
  organisation?: string | undefined;
  disabled: boolean;
  /** Of a project: the foreign ids of users of the same organisation. */
  members?: readonly string[] | undefined;
}

export interface ImportedToken extends ImportedPolicy {
  /** The SHA-256 of the key in hex, by which it is found again. */
  foreignId: string;
  owner: Foreign<OwnerKind>;
  name: string | undefined;
  paused: boolean;
  /** Its earlier keys, in hex, which still work for a while. */
  earlier: readonly { hash: string; validUntil: number }[];
}

export interface ImportedBudget extends Omit<BudgetRequest, "models"> {
  foreignId: string;
  /** The foreign ids that it had before its key was rotated there. */
  earlierIds?: readonly string[] | undefined;
  owner: Foreign;
  spent: Nano;
}

export interface AccountsPlan {
  /** The other gateway: `litellm`. */
  source: string;
  /** Whether the organisations are limited by granted credits. */
  prepaid: boolean;
  /** Organisations before their users, users before the projects whose members they are. */
  holders: readonly ImportedHolder[];
  tokens: readonly ImportedToken[];
  budgets: readonly ImportedBudget[];
}

/** Something that was left out: its name belongs to another one here, or its owner was left out. */
interface LeftOut {
  kind: AccountLevel | "budget";
  foreignId: string;
  problem: string;
}

export interface ImportOutcome {
  /** By kind: how many were made, and how many an earlier import has made. */
  created: Record<AccountLevel | "budget", number>;
  unchanged: Record<AccountLevel | "budget", number>;
  leftOut: LeftOut[];
  /** Keys of earlier imports that the plan has no more, by their tokens here; `key` is the beginning of the hash. */
  ended: { token: string; key: string }[];
}

const none = (): ImportOutcome["created"] => ({ organisation: 0, user: 0, project: 0, token: 0, budget: 0 });

/**
 * Makes all of a plan that no earlier import has made, in one commit with the rows of the audit log. Nothing of an account that
 * another act has made is changed, and none of the keys gets to it. Throws an `AccountError` if the accounts' rules refuse a part.
 */
export function importAccounts(
  deps: AccountsDependencies,
  plan: AccountsPlan,
  context: ActContext = {},
): Promise<ImportOutcome> {
  return deps.log.act(actOptions(deps, context), function* (note) {
    const accounts = new Import(deps, plan.source, note);
    for (const holder of plan.holders) yield* accounts.holder(holder, plan.prepaid);
    for (const token of plan.tokens) yield* accounts.token(token);
    // An earlier key never takes the place of one that is in use.
    for (const token of plan.tokens) yield* accounts.earlierKeys(token);
    yield* accounts.missingKeys(plan.tokens);
    for (const budget of plan.budgets) yield* accounts.budget(budget);
    yield* requireFewBudgets();
    return accounts.outcome;
  });
}

class Import {
  readonly outcome: ImportOutcome = { created: none(), unchanged: none(), leftOut: [], ended: [] };
  readonly #deps: AccountsDependencies;
  readonly #source: string;
  readonly #note: NoteChange;
  readonly #at: number;
  /** Our ids, by kind and foreign id. */
  readonly #ids = new Map<string, string>();

  constructor(deps: AccountsDependencies, source: string, note: NoteChange) {
    this.#deps = deps;
    this.#source = source;
    this.#note = note;
    this.#at = deps.environment.clock();
  }

  *holder(wanted: ImportedHolder, prepaid: boolean): Steps<void> {
    const { kind, foreignId: _, name, organisation, disabled, members, ...policy } = wanted;
    if (yield* this.#isThere(wanted)) return;
    const place =
      organisation === undefined ? undefined : this.#idOf({ kind: "organisation", foreignId: organisation });
    if (organisation !== undefined && place === undefined) {
      this.#leaveOut(wanted, "its organisation was left out, or was deleted here");
      return;
    }
    if ((yield* findHolder(kind, name)) !== undefined) {
      this.#leaveOut(wanted, `there is another ${kind} ${name} here: rename one of them`);
      return;
    }
    const { holder } = yield* addSteps(
      this.#deps,
      {
        kind,
        name,
        organisation: place,
        ...(kind === "organisation" && { prepaid }),
        ...policy,
        ...(disabled && { disabled }),
        ...(members && { members: yield* this.#membersOf(name, members, place) }),
      },
      this.#note,
    );
    yield* this.#made(wanted, holder.id);
  }

  /** The ids of the users who are in the project's organisation here: some may have been in another one before, or were moved since. */
  *#membersOf(project: string, members: readonly string[], organisation: string | undefined): Steps<string[]> {
    const ids: string[] = [];
    for (const foreignId of members) {
      const id = this.#idOf({ kind: "user", foreignId });
      const user = id === undefined ? undefined : yield* findHolder("user", id);
      if (user === undefined) continue;
      if (user.organisationId === organisation) ids.push(user.id);
      else
        this.#leaveOut(
          { kind: "user", foreignId },
          `it is in another organisation here than project ${project}, and no member of it`,
        );
    }
    return ids;
  }

  *token(wanted: ImportedToken): Steps<void> {
    const { foreignId, owner, earlier: _, ...settings } = wanted;
    const place: Foreign = { kind: "token", foreignId };
    if ((yield* this.#isThere(place)) || (yield* this.#rotated(wanted))) return;
    const ownerId = this.#idOf(owner);
    if (ownerId === undefined) {
      this.#leaveOut(place, `its ${owner.kind} was left out, or was deleted here`);
      return;
    }
    const { token } = yield* issueToSteps(
      this.#deps,
      { owner: { kind: owner.kind, name: ownerId }, ...settings },
      this.#note,
    );
    // Nobody has the token's own secret: it is not even returned.
    yield* this.#addKey(foreignId, token, undefined);
    yield* this.#made(place, token.id);
  }

  /** Whether the key has replaced one that an earlier import has made: it gets to the same token, and that one ends. */
  *#rotated({ foreignId, earlier }: ImportedToken): Steps<boolean> {
    for (const { hash, validUntil } of earlier) {
      const id = yield* findImported({ source: this.#source, kind: "token", foreignId: hash });
      const token = id === undefined ? undefined : yield* findToken(id);
      if (token === undefined) continue;
      yield* endKey(Buffer.from(hash, "hex"), validUntil);
      if (!isImported(token)) {
        this.#leaveOut({ kind: "token", foreignId }, `token ${token.id} was rotated or revoked here`);
        return true;
      }
      yield* this.#addKey(foreignId, token, undefined);
      yield* this.#made({ kind: "token", foreignId }, token.id);
      const after = { ...tokenSettingsOf(token, undefined), imported_key: foreignId.slice(0, 8) };
      this.#note({ act: "token.change", target: `token:${token.id}`, after });
      return true;
    }
    return false;
  }

  /** The keys before a rotation, which work until the end of their grace. */
  *earlierKeys({ foreignId, earlier }: ImportedToken): Steps<void> {
    const id = this.#idOf({ kind: "token", foreignId });
    if (id === undefined || earlier.length === 0) return;
    const token = yield* findToken(id);
    if (token === undefined || !isImported(token)) return;
    for (const { hash, validUntil } of earlier) if (validUntil > this.#at) yield* this.#addKey(hash, token, validUntil);
  }

  /**
   * Ends the keys of earlier imports that the other gateway has deleted, or replaced at once. Those of owners who are not in the plan
   * may be of another database, and are reported alone.
   */
  *missingKeys(tokens: readonly ImportedToken[]): Steps<void> {
    const wanted = new Set(
      tokens.flatMap(({ foreignId, earlier }) => [
        foreignId,
        ...earlier.flatMap(({ hash, validUntil }) => (validUntil > this.#at ? hash : [])),
      ]),
    );
    const owners = new Set(this.#owners());
    for (const { hash, tokenId, user } of yield* workingKeys(this.#source, this.#at)) {
      const foreignId = Buffer.from(hash).toString("hex");
      if (wanted.has(foreignId)) continue;
      if (!owners.has(user)) {
        this.#leaveOut(
          { kind: "token", foreignId },
          `neither it nor its owner is there any more: revoke token ${tokenId}`,
        );
        continue;
      }
      yield* endKey(hash, this.#at);
      const key = foreignId.slice(0, 8);
      this.outcome.ended.push({ token: tokenId, key });
      this.#note({ act: "token.change", target: `token:${tokenId}`, after: { ended_key: key } });
    }
  }

  /** The users and projects of the plan that are here, as owners of tokens. */
  *#owners(): Iterable<string> {
    for (const [name, id] of this.#ids)
      for (const kind of ["user", "project"] as const) if (name.startsWith(`${kind}:`)) yield ownerOf({ kind, id });
  }

  *#addKey(hash: string, token: { id: string; secretHash: Uint8Array }, validUntil: number | undefined): Steps<void> {
    const { id: tokenId, secretHash } = token;
    yield insertImportedKey(Buffer.from(hash, "hex"), { tokenId, secretHash, validUntil }, this.#at);
  }

  *budget(wanted: ImportedBudget): Steps<void> {
    const { foreignId, earlierIds = [], owner, ...request } = wanted;
    const place = { kind: "budget", foreignId } as const;
    for (const earlier of [foreignId, ...earlierIds])
      if (yield* this.#isThere({ kind: "budget", foreignId: earlier })) return;
    const name = this.#idOf(owner);
    if (name === undefined) {
      this.#leaveOut(place, `its ${owner.kind} was left out, or was deleted here`);
      return;
    }
    const { budget } = yield* addBudgetSteps(this.#deps, { kind: owner.kind, name }, request, this.#note);
    yield* this.#made(place, budget.id);
  }

  *#isThere({ kind, foreignId }: Pick<LeftOut, "kind" | "foreignId">): Steps<boolean> {
    const id = yield* findImported({ source: this.#source, kind, foreignId });
    if (id === undefined) return false;
    this.outcome.unchanged[kind] += 1;
    // The id of a holder that was deleted since may be the name of another one by now: nothing more gets there.
    const isHolder = kind !== "token" && kind !== "budget";
    if (!isHolder || (yield* findHolder(kind, id))?.id === id) this.#ids.set(`${kind}:${foreignId}`, id);
    return true;
  }

  *#made({ kind, foreignId }: Pick<LeftOut, "kind" | "foreignId">, id: string): Steps<void> {
    yield insertImported({ source: this.#source, kind, foreignId }, id, this.#at);
    this.outcome.created[kind] += 1;
    this.#ids.set(`${kind}:${foreignId}`, id);
  }

  #leaveOut({ kind, foreignId }: Pick<LeftOut, "kind" | "foreignId">, problem: string): void {
    this.outcome.leftOut.push({ kind, foreignId, problem });
  }

  #idOf({ kind, foreignId }: Foreign): string | undefined {
    return this.#ids.get(`${kind}:${foreignId}`);
  }
}

/** Whether the token has the secret of its import: a rotation or a revocation here ends all imported keys, also later ones. */
function isImported({ previousHash, revokedAt }: Pick<TokenRecord, "previousHash" | "revokedAt">): boolean {
  return previousHash === undefined && revokedAt === undefined;
}

/** Ends an imported key, and the sessions that it has begun. */
function* endKey(hash: Uint8Array, until: number): Steps<void> {
  yield endImportedKey(hash, until);
  yield endSessionsOfKey(hash, until);
}
