import type { NoteChange } from "../../audit/index.ts";
import { includesRole } from "../../core/index.ts";
import type { Steps } from "../../storage/index.ts";
import { AccountError } from "../account-error.ts";
import { type ActContext, actOptions } from "./act-context.ts";
import { holderSteps } from "./change-holder.ts";
import { type TokenChanges, tokenSteps, type TokenState } from "./change-token.ts";
import { issueSteps } from "./create-token.ts";
import { endWithinSigned, requireSelfService } from "./token-policy.ts";
import type { AccountsDependencies, Caller } from "../dependencies.ts";
import { type Holder, ownerOf, type OwnerKind } from "../holder.ts";
import { requireBudgetWithin, requireKeeper, roleAsOfNow, roleRequired } from "../reach.ts";

export interface IssueRequest extends TokenChanges {
  /** The id or name of an existing user or project. */
  owner: { kind: OwnerKind; name: string };
  service?: boolean | undefined;
}

/**
 * Issues a token to an existing user or project in the caller's reach. Without a role of its own it has its user's, as far as the caller has that.
 * Throws an `AccountError`.
 */
export function issueTokenTo(
  deps: AccountsDependencies,
  request: IssueRequest,
  context: ActContext = {},
): Promise<TokenState & { secret: string }> {
  return deps.log.act(actOptions(deps, context), (note) => issueToSteps(deps, request, note));
}

/** The same as a part of an act. */
export function* issueToSteps(
  deps: AccountsDependencies,
  request: IssueRequest,
  note: NoteChange,
): Steps<TokenState & { secret: string }> {
  const { caller, environment } = deps;
  const { holder: owner, chain } = yield* holderSteps(deps, request.owner.kind, request.owner.name);
  const { service, name, models, tools, rpm, tpm, concurrency, maxBudget, period, expiresAt, paused } = request;
  const { metadata } = request;
  if (service === true && caller.role !== "owner") throw roleRequired("Only an owner makes tokens of services.");
  if (service === true && owner.kind !== "user")
    throw new AccountError("a project pays for its calls: it has no tokens of services");
  if (service !== true && owner.accountId === undefined)
    throw new AccountError(`user ${owner.name} has only service tokens, and no account that pays for others`);
  const role = request.role ?? roleFor(caller, owner);
  requireKeeper(caller, owner, role);
  const { role: ofOwner = "member" } = owner;
  if (role !== undefined && !includesRole(ofOwner, role))
    throw roleRequired(`${owner.kind} ${owner.name} has the role ${ofOwner}, which does not contain ${role}.`);
  requireBudgetWithin(caller, maxBudget, chain);
  yield* requireSelfService(deps, owner);
  const wanted = {
    role,
    name: name ?? undefined,
    service,
    models: models ?? undefined,
    tools: tools ?? undefined,
    rpm: rpm ?? undefined,
    tpm: tpm ?? undefined,
    concurrency: concurrency ?? undefined,
    maxBudget: maxBudget ?? undefined,
    period: period ?? undefined,
    expiresAt: endWithinSigned(caller, owner, expiresAt ?? undefined),
    pausedAt: paused === true ? environment.clock() : undefined,
    metadata: metadata ?? undefined,
  };
  const { id, token: secret } = yield* issueSteps(deps, owner, wanted, note);
  return { ...(yield* tokenSteps(deps, id)), secret };
}

/** Somebody who has presented a lesser token of their own gets no more with another one. */
function roleFor(caller: Caller, owner: Holder) {
  const isLesser = caller.user === ownerOf(owner) && !includesRole(caller.role, owner.role ?? "member");
  return isLesser ? caller.role : roleAsOfNow(caller, owner);
}
