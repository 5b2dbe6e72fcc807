import type { NoteChange } from "../../audit/index.ts";
import type { Role } from "../../core/index.ts";
import type { Steps } from "../../storage/index.ts";
import { type ActContext, actOptions } from "./act-context.ts";
import { changeSteps, type HolderChanges, holderSteps, type HolderState } from "./change-holder.ts";
import type { AccountsDependencies } from "../dependencies.ts";
import { createHolder } from "./ensure-holder.ts";
import type { HolderKind } from "../holder.ts";
import { requireGivable, roleRequired } from "../reach.ts";
import { requireMayMake } from "./token-policy.ts";
import { AccountError } from "../account-error.ts";

export interface HolderRequest extends HolderChanges {
  kind: HolderKind;
  name: string;
  role?: Role | undefined;
  /** The name or id of the organisation that a user or project belongs to; by default that of an organisation's admin. */
  organisation?: string | undefined;
}

/** Creates an organisation, a user or a project, with its limits. Throws an `AccountError`, with 409 if the name is taken. */
export function addHolder(
  deps: AccountsDependencies,
  request: HolderRequest,
  context: ActContext = {},
): Promise<HolderState> {
  return deps.log.act(actOptions(deps, context), (note) => addSteps(deps, request, note));
}

/** The same as a part of an act, with one row for the log. */
export function* addSteps(deps: AccountsDependencies, request: HolderRequest, note: NoteChange): Steps<HolderState> {
  const { caller } = deps;
  const { kind, name, role, organisation: _, ...changes } = request;
  if (kind === "project" && role !== undefined)
    throw new AccountError("a project has no role: its tokens are those of members");
  if (kind === "organisation" && caller.role !== "owner") throw roleRequired("Only an owner makes organisations.");
  if (role !== undefined) requireGivable(caller, role);
  yield* requireMayMake(deps, role);
  const place = yield* placeOf(deps, request);
  const noted: Parameters<NoteChange>[0][] = [];
  const holder = yield* createHolder(
    deps,
    { kind, name, role, organisation: place, prepaid: changes.prepaid },
    (change) => noted.push(change),
  );
  const created = yield* holderSteps(deps, kind, holder.id);
  const state = yield* changeSteps(deps, created, changes, (change) => noted.push(change));
  const [first, last = first] = noted;
  if (first !== undefined) note({ ...first, after: last?.after });
  return state;
}

function* placeOf(deps: AccountsDependencies, { kind, organisation }: HolderRequest) {
  const { caller } = deps;
  if (kind === "organisation") return undefined;
  const own = caller.role === "owner" ? undefined : caller.organisation;
  const named = organisation ?? own;
  if (named === undefined) {
    if (caller.role === "owner") return undefined;
    throw roleRequired("You are in no organisation, whose users and projects you could make.");
  }
  return (yield* holderSteps(deps, "organisation", named)).holder;
}
