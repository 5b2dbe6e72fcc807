/**
 * A session that may have several targets: they are asked for it one after the other, each once its first work is held. Another one
 * follows a refused handshake whose class it is for; an open session does not move.
 */
import { type FailureName, GatewayError } from "../../core/index.ts";
import type { CallTargets, Target } from "../../routing/index.ts";
import { circuitOutcomeOf, type FailedAttempt } from "../../sending/index.ts";
import type { RealtimeDependencies } from "../realtime-dependencies.ts";

/** One target's turn. */
export interface HandshakeAttempt {
  /** Whether another target is left. */
  hasNext: boolean;
  /** Further requests to the target after the first. */
  retries: number;
  openMsMax: number;
  /** Called when one of its requests begins. */
  onAttempt: () => void;
  /** Called when its handshake has failed and is not repeated. */
  onFailure: (failed: FailedAttempt) => void;
}

/**
 * The result of `open` for the first target that opens the session, else for the last one that has refused it itself. Rejects with the
 * last failure if none has, and with the reason of the first target that cannot be used if there is no other.
 */
export async function openRouted<Opened>(
  deps: Pick<RealtimeDependencies, "bounds" | "routeLimits" | "send" | "ticker">,
  targets: CallTargets,
  open: (target: Target, attempt: HandshakeAttempt) => Promise<Opened>,
): Promise<Opened> {
  const { attempts: attemptsMax, deadlineMs, attemptMsMax } = targets.limits ?? deps.routeLimits;
  const openMsMax = deps.bounds.connectMsMax;
  const until = deps.ticker.now() + deadlineMs;
  let refused: Opened | undefined;
  let error: GatewayError | undefined;
  let after: FailureName | undefined;
  let requests = 0;
  for (;;) {
    const again = attemptsMax - requests - 1;
    const target = again < 0 || deps.ticker.now() >= until ? undefined : targets.next(after);
    if (target === undefined) break;
    const hasNext = targets.hasMore && again > 0;
    const failures: FailedAttempt[] = [];
    const attempt = {
      hasNext,
      retries: hasNext ? again : Math.min(deps.send.retries, again),
      openMsMax: hasNext ? Math.min(openMsMax, attemptMsMax) : openMsMax,
      onAttempt: (): void => void (requests += 1),
      onFailure: (failed: FailedAttempt): void => void failures.push(failed),
    };
    try {
      const opened = await open(target, attempt);
      if (failures.length === 0) {
        targets.note("works");
        return opened;
      }
      refused = opened;
    } catch (thrown) {
      if (failures.length === 0 && after === undefined && !isSkipped(targets, thrown)) throw thrown;
      if (failures.length === 0) targets.skip(thrown);
      else if (thrown instanceof GatewayError) error = thrown;
      else throw thrown;
    }
    const [failed] = failures;
    if (failed === undefined || failed.failure === "abandoned") continue;
    targets.note(circuitOutcomeOf(failed.failure));
    after = failed.failure.name;
  }
  if (refused !== undefined) return refused;
  throw error ?? targets.unusable;
}

/** Whether the refusal of the first target, before it was asked, is no answer to the client. */
function isSkipped(targets: CallTargets, thrown: unknown): boolean {
  if (!(thrown instanceof GatewayError)) return false;
  return thrown.code === "insufficient_credits" ? targets.passesOver(thrown) : isUnsuitable(thrown);
}

/** The target has no such sessions, or not with these settings. */
const isUnsuitable = ({ status }: GatewayError): boolean => status === 404 || status === 422;
