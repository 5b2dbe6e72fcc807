/** The calls that a target of a route is for: all, unless it has a condition. */
import type { Principal } from "../auth/index.ts";
import { matchesGlob } from "../core/index.ts";

/** The caller of a model. */
export interface ModelCaller
  extends Pick<Principal, "models">, Partial<Pick<Principal, "modelsAbove" | "tokenId" | "user" | "organisation">> {
  /** Whether it is a route of the operator's, which may call models that callers cannot name. */
  isRoute?: boolean;
}

export interface TargetCondition {
  /** Globs of the token's id. */
  token?: readonly string[] | undefined;
  user?: readonly string[] | undefined;
  organisation?: readonly string[] | undefined;
  operation?: readonly string[] | undefined;
  /** The estimated tokens of the input, both bounds included. */
  inputTokens?: { min: number; max: number } | undefined;
}

/** Whether a target is for the caller and the operation, if that is known. */
export function isFor(when: TargetCondition | undefined, caller: ModelCaller, operation: string | undefined): boolean {
  if (when === undefined) return true;
  return (
    matches(when.token, caller.tokenId) &&
    matches(when.user, caller.user) &&
    matches(when.organisation, caller.organisation) &&
    (operation === undefined || matches(when.operation, operation))
  );
}

/** Whether a target is for inputs of so many tokens. */
export function takesInput({ inputTokens }: TargetCondition = {}, tokens: number): boolean {
  return inputTokens === undefined || (tokens >= inputTokens.min && tokens <= inputTokens.max);
}

function matches(globs: readonly string[] | undefined, value: string | undefined): boolean {
  return globs === undefined || (value !== undefined && globs.some((glob) => matchesGlob(glob, value)));
}
