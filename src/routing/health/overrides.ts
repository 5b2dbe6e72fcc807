/** Targets that an operator has disabled, as the process knows them now: nothing is read for a call. */
import { type Clock, GatewayError } from "../../core/index.ts";
import type { TargetOverride } from "../shared/store.ts";

export interface OverrideChanges {
  disabled: TargetOverride[];
  /** The targets that are enabled again: by the operator, or because the time is over. */
  enabled: string[];
}

export class Overrides {
  readonly #clock: Clock;
  #byTarget = new Map<string, TargetOverride>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#byTarget.size === 0;
  }

  /** Replaces all, and returns the changes. */
  replace(overrides: readonly TargetOverride[]): OverrideChanges {
    const before = this.#byTarget;
    this.#byTarget = new Map(overrides.map((override) => [override.target, override]));
    return {
      disabled: overrides.filter(({ target, until }) => {
        const earlier = before.get(target);
        return earlier === undefined || earlier.until !== until;
      }),
      enabled: [...before.keys()].filter((target) => !this.#byTarget.has(target)),
    };
  }

  /** Throws `provider_disabled` if the provider with this prefix, or this model of it, is disabled now. */
  require(prefix: string, model: string): void {
    const modelId = `${prefix}/${model}`;
    const override = this.#find(prefix) ?? this.#find(modelId);
    if (override === undefined) return;
    const { target, until } = override;
    const leftMs = until === undefined ? undefined : until - this.#clock();
    throw new GatewayError("provider_disabled", `The operator of the gateway has disabled ${target}.`, {
      param: "model",
      ...(leftMs !== undefined && { retryAfterSeconds: Math.ceil(leftMs / 1_000) }),
    });
  }

  #find(target: string): TargetOverride | undefined {
    const override = this.#byTarget.get(target);
    return override?.until !== undefined && override.until <= this.#clock() ? undefined : override;
  }
}
