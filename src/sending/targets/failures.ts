/** The failures of the targets of one piece of work: what they decide, and which one its client gets. */
import { type FailureName, failureTraits } from "../../core/index.ts";
import type { FailedAttempt } from "../repeat-rule.ts";

/** The class that decides about the next target: of several requests, one that is about the request itself. */
export function decidingClass(failures: readonly FailedAttempt[]): FailureName | undefined {
  const names = failures.flatMap(({ failure }) => (failure === "abandoned" ? [] : [failure.name]));
  return names.find((name) => !failureTraits[name].isUnavailable) ?? names.at(-1);
}

/**
 * The error of a provider that the client gets if all targets fail: the last one, of those that are not about the operator's account if
 * there is any.
 */
export class ProviderErrors<Given> {
  #last: { given: Given; isOperators: boolean } | undefined;

  note(given: Given, failures: readonly FailedAttempt[]): void {
    const isOperators = isAboutOperator(decidingClass(failures));
    if (this.#last === undefined || this.#last.isOperators || !isOperators) this.#last = { given, isOperators };
  }

  get most(): Given | undefined {
    return this.#last?.given;
  }
}

/** Whether a failure is about the operator's account: the caller can neither change it nor wait for its end. */
function isAboutOperator(name: FailureName | undefined): boolean {
  return name === "model_gone" || (name !== undefined && failureTraits[name].key === "refused");
}
