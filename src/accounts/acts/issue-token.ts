import type { NoteChange } from "../../audit/index.ts";
import { includesRole } from "../../core/index.ts";
import type { Steps } from "../../storage/index.ts";
import { AccountError } from "../account-error.ts";
import { type ActContext, actOptions } from "./act-context.ts";
import { holderSteps } from "./change-holder.ts";
import { type TokenChanges, tokenSteps, type TokenState } from "./change-token.ts";
import { issueSteps } from "./create-token.ts";
import { requireSelfService } from "./token-policy.ts";
import type { AccountsDependencies, Caller } from "../dependencies.ts";
import type { Holder } from "../holder.ts";
import { requireBudgetWithin, requireKeeper, roleAsOfNow, roleRequired } from "../reach.ts";

export interface IssueRequest extends TokenChanges {
  /** The id or name of an existing user. */
  user: string;
  service?: boolean | undefined;
}

/**
 * Issues a token to an existing user in the caller's reach. Without a role of its own it has its user's, as far as the caller has that.
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
  const { holder: user, chain } = yield* holderSteps(deps, "user", request.user);
  const { service, name, models, tools, rpm, tpm, concurrency, maxBudget, period, expiresAt, paused } = request;
  if (service === true && caller.role !== "owner") throw roleRequired("Only an owner makes tokens of services.");
  if (service !== true && user.accountId === undefined)
    throw new AccountError(`user ${user.name} has only service tokens, and no account that pays for others`);
  const role = request.role ?? roleFor(caller, user);
  requireKeeper(caller, user, role);
  if (role !== undefined && !includesRole(user.role ?? "member", role))
    throw roleRequired(`User ${user.name} has the role ${user.role}, which does not contain ${role}.`);
  requireBudgetWithin(caller, maxBudget, chain);
  yield* requireSelfService(deps, user);
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
    expiresAt: expiresAt ?? undefined,
    pausedAt: paused === true ? environment.clock() : undefined,
  };
  const { id, token: secret } = yield* issueSteps(deps, user, wanted, note);
  return { ...(yield* tokenSteps(deps, id)), secret };
}

/** Somebody who has presented a lesser token of their own gets no more with another one. */
function roleFor(caller: Caller, user: Holder) {
  const isLesser = caller.user === user.id && !includesRole(caller.role, user.role ?? "member");
  return isLesser ? caller.role : roleAsOfNow(caller, user);
}
