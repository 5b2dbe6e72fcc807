import type { ActOptions } from "../../audit/index.ts";
import { AccountError } from "../account-error.ts";
import type { AccountsDependencies } from "../dependencies.ts";

/** Comes with each request to act, whatever it changes. */
export interface ActContext {
  reason?: string | undefined;
  /** Nothing is changed; the answer is the same as if it were. */
  dryRun?: boolean;
  /** The version that the caller has seen; the act is refused (412) if there is another. */
  ifVersion?: number | undefined;
}

export function actOptions({ caller }: Pick<AccountsDependencies, "caller">, context: ActContext): ActOptions {
  const { reason, dryRun = false } = context;
  return { actor: caller.actor, reason, dryRun };
}

export function requireVersion({ ifVersion }: ActContext, version: number): void {
  if (ifVersion !== undefined && ifVersion !== version)
    throw new AccountError("It was changed since: read it again.", "precondition_failed");
}
