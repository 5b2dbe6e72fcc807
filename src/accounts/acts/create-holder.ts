import type { Role } from "../../core/index.ts";
import { type ActContext, actOptions } from "./act-context.ts";
import { changeSteps, type HolderChanges, holderSteps, type HolderState } from "./change-holder.ts";
import type { AccountsDependencies } from "../dependencies.ts";
import { createHolder } from "./ensure-holder.ts";
import type { HolderKind } from "../holder.ts";
import { requireGivable, roleRequired } from "../reach.ts";

export interface HolderRequest extends HolderChanges {
  kind: HolderKind;
  name: string;
  role?: Role | undefined;
  /** The name or id of the organisation that a user belongs to; by default that of an organisation's admin. */
  organisation?: string | undefined;
}

/** Creates an organisation or a user, with its limits. Throws an `AccountError`, with 409 if the name is taken. */
export function addHolder(
  deps: AccountsDependencies,
  request: HolderRequest,
  context: ActContext = {},
): Promise<HolderState> {
  const { caller } = deps;
  const { kind, name, role, organisation: _, ...changes } = request;
  return deps.log.act(actOptions(deps, context), function* (note) {
    if (kind === "organisation" && caller.role !== "owner") throw roleRequired("Only an owner makes organisations.");
    if (role !== undefined) requireGivable(caller, role);
    const place = yield* placeOf(deps, request);
    const holder = yield* createHolder(deps, { kind, name, role, organisation: place }, note);
    return yield* changeSteps(deps, yield* holderSteps(deps, kind, holder.id), changes, note);
  });
}

function* placeOf(deps: AccountsDependencies, { kind, organisation }: HolderRequest) {
  const { caller } = deps;
  if (kind === "organisation") return undefined;
  const own = caller.role === "owner" ? undefined : caller.organisation;
  const named = organisation ?? own;
  if (named === undefined) {
    if (caller.role === "owner") return undefined;
    throw roleRequired("You are in no organisation, whose users you could make.");
  }
  return (yield* holderSteps(deps, "organisation", named)).holder;
}
