/** Which acts of a browser's session need a sign-in of just now: somebody may have found an open browser. */
import { GatewayError } from "../../core/index.ts";
import type { RouteCall } from "../route.ts";
import type { Services } from "../services.ts";
import type { AdminRoute } from "./route-roles.ts";

/** How long a session counts as begun just now. */
export const FRESH_MS = 10 * 60_000;

type Act = Exclude<AdminRoute, `get ${string}`>;

/**
 * - `always`
 * - `secret`: the answer has a secret that outlives the session, and the caller more rights than a member.
 * - `members`: the body has one of `GUARDED_MEMBERS`.
 * - `never`
 */
type Rule = "always" | "secret" | "members" | "never";

/**
 * An act needs it that gives rights, money or time, or takes a limit away, and one that cannot be undone. What stops misuse at once needs
 * none: to pause, disable, revoke or cancel, to end sessions, and to change rates. The configuration is in files that no browser writes.
 */
export const freshRules: Readonly<Record<Act, Rule>> = {
  "post /admin/v1/organisations": "members",
  "patch /admin/v1/organisations/{id}": "members",
  "delete /admin/v1/organisations/{id}": "always",
  "post /admin/v1/users": "members",
  "patch /admin/v1/users/{id}": "members",
  "delete /admin/v1/users/{id}": "always",
  "post /admin/v1/projects": "members",
  "patch /admin/v1/projects/{id}": "members",
  "delete /admin/v1/projects/{id}": "always",
  "post /admin/v1/tokens": "secret",
  "patch /admin/v1/tokens/{id}": "members",
  "delete /admin/v1/tokens/{id}": "never",
  "post /admin/v1/tokens/{id}/rotate": "secret",
  "delete /admin/v1/session": "never",
  "delete /admin/v1/sessions/{id}": "never",
  "put /admin/v1/people": "always",
  "post /admin/v1/model_groups": "always",
  "patch /admin/v1/model_groups/{id}": "always",
  "delete /admin/v1/model_groups/{id}": "always",
  "post /admin/v1/budgets": "always",
  "patch /admin/v1/budgets/{id}": "members",
  "delete /admin/v1/budgets/{id}": "always",
  "post /admin/v1/credits": "always",
  "patch /admin/v1/providers/{id}": "never",
  "post /admin/v1/batches/{id}/cancel": "never",
  "delete /admin/v1/realtime_sessions/{id}": "never",
  "post /admin/v1/config/reload": "never",
};

/** Members of bodies; a lower limit counts too, since the one before is not known here. */
export const GUARDED_MEMBERS = [
  "role",
  "identities",
  "members",
  "organisation",
  "prepaid",
  "markup",
  "token_policy",
  "models",
  "tools",
  "expires_at",
  "max_budget",
  "period",
  "start",
  "raise",
] as const;

/** Members that stop something if they are true, and let it go on if they are false. */
const STOPPING_MEMBERS = ["disabled", "paused"] as const;

function isGuarded(body: Readonly<Record<string, unknown>>): boolean {
  return (
    GUARDED_MEMBERS.some((member) => Object.hasOwn(body, member)) ||
    STOPPING_MEMBERS.some((member) => body[member] === false)
  );
}

interface ActBy {
  act: Act;
  body?: object;
  dryRun: boolean | undefined;
}

/**
 * Throws 403 for an act that needs a fresh sign-in, of a browser's session whose caller has not shown for a while who they are. A token proves
 * itself with each request; a dry run changes nothing.
 */
export function requireFreshSignIn(
  { principal }: Pick<RouteCall, "principal">,
  { clock }: Pick<Services, "clock">,
  { act, body = {}, dryRun }: ActBy,
): void {
  const { session, role } = principal;
  if (session === undefined || dryRun === true) return;
  const rule = freshRules[act];
  if (rule === "never" || (rule === "secret" && role === "member")) return;
  if (rule === "members" && !isGuarded(body as Readonly<Record<string, unknown>>)) return;
  if (clock() - (session.provedAt ?? 0) < FRESH_MS) return;
  throw new GatewayError("fresh_sign_in_required", "Sign in again: this needs a sign-in of the last 10 minutes.");
}
