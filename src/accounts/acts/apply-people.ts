import type { NoteChange } from "../../audit/index.ts";
import { GatewayError, type Role } from "../../core/index.ts";
import type { Steps } from "../../storage/index.ts";
import { AccountError } from "../account-error.ts";
import { type ActContext, actOptions } from "./act-context.ts";
import { changedAccount, changeSteps, type HolderChanges, holderSteps } from "./change-holder.ts";
import { addSteps } from "./create-holder.ts";
import type { AccountsDependencies } from "../dependencies.ts";
import type { Holder } from "../holder.ts";
import { issueToSteps } from "./issue-token.ts";
import { findHolder, lockAccounts } from "../sql/holders.ts";
import { hasUsableToken } from "../sql/tokens.ts";

/** One row of a file of people. */
export interface PersonRow {
  /** The name or id of a user, who is created if there is none. */
  name: string;
  /** The name or id of their organisation; null for none. */
  organisation?: string | null | undefined;
  role?: Role | undefined;
  /** Whether to issue a token to a user who has none. */
  token?: boolean | undefined;
  /** The limits; null takes one away. */
  changes: Omit<HolderChanges, "name" | "role" | "organisation">;
}

interface IssuedToPerson {
  name: string;
  /** Null of a dry run, with the secret. */
  token_id: string | null;
  token: string | null;
}

interface ChangedPerson {
  name: string;
  /** The changed members alone. */
  before: Readonly<Record<string, unknown>>;
  after: Readonly<Record<string, unknown>>;
}

interface MovedPerson {
  name: string;
  /** Ids of organisations; null for none. */
  from: string | null;
  to: string | null;
}

/** The changes of a file of people, as the API shows them. */
export interface PeopleDifference {
  created: string[];
  changed: ChangedPerson[];
  moved: MovedPerson[];
  unchanged: string[];
  tokens: IssuedToPerson[];
}

/**
 * Creates and changes the users of a file, all of them or none, in one commit with a row of the audit log for each change. Who is not in
 * the file stays as they are. Throws an `AccountError` that names the row, counted from 1: with the rules of one request for one user.
 */
export function applyPeople(
  deps: AccountsDependencies,
  people: readonly PersonRow[],
  context: ActContext = {},
): Promise<PeopleDifference> {
  return deps.log.act(actOptions(deps, context), function* (note) {
    const difference: PeopleDifference = { created: [], changed: [], moved: [], unchanged: [], tokens: [] };
    const rowOf = new Map<string, number>();
    const known = yield* lockChanged(deps, people);
    for (const [index, person] of people.entries()) {
      const applied = { person, found: known[index], isDry: context.dryRun === true, row: index + 1, rowOf };
      try {
        yield* applyPerson(deps, applied, difference, note);
      } catch (thrown) {
        throw inRow(index, person, thrown);
      }
    }
    return difference;
  });
}

/**
 * The users of the rows, as far as there are any. Locks the accounts whose limits change, in the order of a commit of calls: in that of
 * the file, each could wait for the other.
 */
function* lockChanged(
  { ledger, environment }: AccountsDependencies,
  people: readonly PersonRow[],
): Steps<(Holder | undefined)[]> {
  const known: (Holder | undefined)[] = [];
  const ids: string[] = [];
  for (const { name, changes } of people) {
    const found = yield* findHolder("user", name);
    known.push(found);
    if (changes.maxBudget === undefined && changes.period === undefined) continue;
    const [account] = found?.accountId === undefined ? [] : yield* ledger.chain(found.accountId, environment.clock());
    if (account !== undefined && !Bun.deepEquals(account, changedAccount(account, changes))) ids.push(account.id);
  }
  if (ids.length > 0) yield lockAccounts(ids);
  return known;
}

interface AppliedPerson {
  person: PersonRow;
  /** The user before the file is applied; undefined of a new one. */
  found: Holder | undefined;
  isDry: boolean;
  row: number;
  /** The rows before, by the ids of their users, and by the names of new ones. */
  rowOf: Map<string, number>;
}

function* applyPerson(
  deps: AccountsDependencies,
  { person, found, isDry, row, rowOf }: AppliedPerson,
  difference: PeopleDifference,
  note: NoteChange,
): Steps<void> {
  const { name, organisation, role, token, changes } = person;
  const earlier = rowOf.get(found?.id ?? name);
  if (earlier !== undefined) throw new AccountError(`it is in row ${earlier} already`);
  rowOf.set(found?.id ?? name, row);
  if (found === undefined) {
    yield* addSteps(deps, { kind: "user", name, role, organisation: organisation ?? undefined, ...changes }, note);
    difference.created.push(name);
  } else {
    yield* changePerson(deps, person, difference, note);
  }
  if (token !== true || (found !== undefined && (yield* hasUsableToken(found.id, deps.environment.clock())))) return;
  const { token: issued, secret } = yield* issueToSteps(deps, { owner: { kind: "user", name } }, note);
  difference.tokens.push({ name, token_id: isDry ? null : issued.id, token: isDry ? null : secret });
}

function* changePerson(
  deps: AccountsDependencies,
  { name, organisation, role, changes }: PersonRow,
  difference: PeopleDifference,
  note: NoteChange,
): Steps<void> {
  const state = yield* holderSteps(deps, "user", name);
  let isUnchanged = true;
  yield* changeSteps(deps, state, { role, organisation, ...changes }, (change) => {
    isUnchanged = false;
    note(change);
    const { before, after } = differenceOf(change);
    const { organisation_id: from, ...old } = before;
    const { organisation_id: to, ...now } = after;
    if (change.act === "user.move") difference.moved.push({ name, from: textOrNull(from), to: textOrNull(to) });
    if (Object.keys(old).length > 0) difference.changed.push({ name, before: old, after: now });
  });
  if (isUnchanged) difference.unchanged.push(name);
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** The members that differ. */
function differenceOf({ before = {}, after = {} }: Parameters<NoteChange>[0]) {
  const old = Object.entries(before).filter(([name, value]) => !Bun.deepEquals(value, Reflect.get(after, name)));
  return {
    before: Object.fromEntries(old),
    after: Object.fromEntries(old.map(([name]) => [name, Reflect.get(after, name) as unknown])),
  };
}

/** A right that the caller lacks stays one; other refusals are faults of the file. */
function inRow(index: number, { name }: PersonRow, thrown: unknown): unknown {
  if (!(thrown instanceof GatewayError)) return thrown;
  const isRight = thrown.code === "role_required" || thrown.code === "last_owner";
  return new AccountError(
    `row ${index + 1} (${name}): ${thrown.message}`,
    isRight ? thrown.code : "validation_failed",
    `people.${index}`,
  );
}
