import type { Principal } from "../auth/index.ts";
import { GatewayError, limits, type Nano } from "../core/index.ts";
import type { Hold } from "../ledger/index.ts";
import type { WorkDependencies } from "./dependencies.ts";
import { endHold } from "./end-hold.ts";
import { rateExceeded } from "./rate-headers.ts";

/** A request that costs its caller nothing. */
interface FreeCall {
  requestId: string;
  principal: Principal;
  /** Its kind, and the provider's prefix if that is known: they are on its hold. */
  operation: Hold["operation"];
  provider?: string | undefined;
  /** Whether it uses a provider's resources, so that credits must be left. Tokens of services need none. */
  needsCredits?: boolean;
}

export type AdmitFree = (call: FreeCall) => Promise<void>;

/**
 * Admits a free request: it counts against its token's requests a minute. Rejects with 429 if that limit is reached, and
 * with 402 if it needs credits and none are left. A hold is taken and released at once: no rule is written twice, and
 * all nodes count together.
 */
export async function admitFree(deps: WorkDependencies, call: FreeCall): Promise<void> {
  const { requestId: id, principal, operation, provider = "", needsCredits = false } = call;
  const { rates, ratesAbove, accountId, service } = principal;
  const amount: Nano = needsCredits && !service ? 1n : 0n;
  if ((rates ?? ratesAbove) === undefined && amount === 0n) return;
  const at = deps.clock();
  const held = { operation, provider, model: "", dialect: undefined, streamed: false };
  const hold: Hold = { kind: "hold", id, accountId, amount, ...held, at, leaseUntil: at + limits.holdLeaseMs };
  if (rates !== undefined) hold.rates = rates;
  if (ratesAbove !== undefined) hold.ratesAbove = ratesAbove;
  if (principal.partOf !== undefined) hold.isPart = true;
  const result = await deps.ledger.submit(hold);
  if (result.outcome === "held") void endHold(deps, { kind: "release", id, at: deps.clock() });
  else if (result.outcome === "limited") {
    throw rateExceeded(result, { own: principal, tokens: 0, now: at });
  } else if (result.outcome === "insufficient" && amount > 0n) {
    throw new GatewayError("insufficient_credits", "Not enough credits: none are left.");
  }
}
