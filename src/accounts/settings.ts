/** The settings of a holder or a token, as the audit log and the API have them: in credits, null without a limit. */
import type { Policy, TokenRecord } from "../auth/index.ts";
import type { Account } from "../ledger/index.ts";
import { creditsOrNull, timeOrNull } from "./budget-json.ts";
import { type Holder, ownerPlace } from "./holder.ts";

/** The limits of an account. */
function limitsOf(account: Account | undefined) {
  return {
    ...(account?.markup !== undefined && { markup: account.markup / 1e6 }),
    max_budget: creditsOrNull(account?.maxBudget),
    period: account?.period ?? null,
  };
}

function policyOf({ models, tools, rpm, tpm, concurrency, expiresAt }: Policy) {
  return {
    models: models ?? null,
    tools: tools ?? null,
    rpm: rpm ?? null,
    tpm: tpm ?? null,
    concurrency: concurrency ?? null,
    expires_at: timeOrNull(expiresAt),
  };
}

function tokenPolicyOf({ tokenPolicy }: Holder) {
  if (tokenPolicy === undefined) return null;
  const { maxTokens = null, maxExpiresMs, maxBudget } = tokenPolicy;
  const maxExpires = maxExpiresMs === undefined ? null : maxExpiresMs / 1_000;
  return { max_tokens: maxTokens, max_expires: maxExpires, max_budget: creditsOrNull(maxBudget) };
}

export function settingsOf(holder: Holder, account: Account | undefined) {
  const { kind, id, name, role = "member", organisationId = null, members = [] } = holder;
  return {
    id,
    name,
    ...(kind === "user" && { role }),
    ...(kind !== "organisation" && { organisation_id: organisationId }),
    ...(kind === "project" && { members }),
    prepaid: account?.prepaid ?? false,
    ...(kind === "organisation" && { token_policy: tokenPolicyOf(holder), tags: holder.tags ?? [] }),
    ...policyOf(holder),
    ...limitsOf(account),
    disabled: holder.disabledAt !== undefined,
  };
}

/** One of them is null. */
function ownerIds(owner: string) {
  const { kind, id } = ownerPlace(owner);
  return { user_id: kind === "user" ? id : null, project_id: kind === "project" ? id : null };
}

export function tokenSettingsOf(token: TokenRecord, account: Account | undefined) {
  const { id, user, name, role, service, pausedAt, metadata = {} } = token;
  return {
    id,
    ...ownerIds(user),
    name: name ?? null,
    role: role ?? null,
    service,
    metadata,
    ...policyOf(token),
    ...limitsOf(account),
    paused: pausedAt !== undefined,
  };
}
