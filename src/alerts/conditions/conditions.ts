/** The present findings of the rules. */
import type { AlertRule } from "../../config/index.ts";
import type { Crossing } from "../alert.ts";

/** Finds the crossings of one rule; resolves with undefined if it has not looked this time. */
export type Condition = () => Promise<readonly Crossing[] | undefined>;

interface Look {
  /** The rules that were looked at. */
  rules: ReadonlySet<AlertRule>;
  found: readonly Crossing[];
}

export class Conditions {
  readonly #conditions: readonly (readonly [AlertRule, Condition])[];
  readonly #onError: (rule: AlertRule, reason: unknown) => void;

  constructor(conditions: Partial<Record<AlertRule, Condition>>, onError: (rule: AlertRule, reason: unknown) => void) {
    this.#conditions = Object.entries(conditions) as [AlertRule, Condition][];
    this.#onError = onError;
  }

  /** A rule that can't be looked at neither opens nor closes anything. Never rejects. */
  async look(isWanted: (rule: AlertRule) => boolean): Promise<Look> {
    const rules = new Set<AlertRule>();
    const found: Crossing[] = [];
    for (const [rule, condition] of this.#conditions) {
      if (!isWanted(rule)) continue;
      try {
        const crossings = await condition();
        if (crossings === undefined) continue;
        rules.add(rule);
        found.push(...crossings);
      } catch (reason) {
        this.#onError(rule, reason);
      }
    }
    return { rules, found };
  }
}
