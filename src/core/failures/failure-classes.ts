/**
 * The classes of a failed attempt at an upstream: the one table for the log, records, metrics and the documentation
 * (`docs/routing.md`, which a test compares with this table).
 */

interface FailureTraits {
  /** The consequence for the key that was used: another one is tried, and this one rests. */
  key: "fine" | "refused" | "limited";
  /** Whether the same target may be asked again, if the kind of work permits it (`sending/repeat-rule.ts`). */
  repeats: boolean;
  /** Whether it says that the target is unavailable, rather than something about this one request. */
  isUnavailable: boolean;
}

const unavailable: FailureTraits = { key: "fine", repeats: true, isUnavailable: true };
const unrepeated: FailureTraits = { ...unavailable, repeats: false };
const ofRequest: FailureTraits = { key: "fine", repeats: false, isUnavailable: false };

const traits = {
  /** No connection, or one that broke before an answer. */
  unreachable: unavailable,
  /** Silence before the head of the answer. */
  no_head: unrepeated,
  /** Silence, or a cut, between the head and the first content. */
  no_content: unrepeated,
  /** A 5xx, or an answer that is no valid HTTP. */
  broken: unavailable,
  overloaded: unavailable,
  /** A limit of the key. */
  rate_limited: { ...unavailable, key: "limited" },
  key_refused: { ...unrepeated, key: "refused" },
  /** The key has no money or quota left. */
  quota_gone: { ...unrepeated, key: "refused" },
  /** The upstream does not have the model, or does not permit it to this account. */
  model_gone: { ...unrepeated },
  /** The input is too long for the model. */
  context_window: ofRequest,
  /** The upstream refuses the content. */
  content_policy: ofRequest,
  /** Any other fault of the request. */
  request: ofRequest,
  /** A fault or a limit of the gateway itself. */
  gateway: ofRequest,
} as const satisfies Record<string, FailureTraits>;

export type FailureName = keyof typeof traits;

export const failureTraits: Readonly<Record<FailureName, FailureTraits>> = traits;
