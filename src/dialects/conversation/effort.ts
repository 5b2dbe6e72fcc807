import { type Effort, efforts } from "../../core/index.ts";

/** Fewer tokens to think with are refused by those who count them. */
export const budgetTokensMin = 1024;

/** Tokens to think with, for an upstream that counts them. `none` thinks nothing. */
export const budgetOfEffort: Readonly<Record<Exclude<Effort, "none">, number>> = {
  minimal: budgetTokensMin,
  low: 4_096,
  medium: 10_240,
  high: 24_576,
  xhigh: 40_960,
  max: 65_536,
};

/** The least effort whose budget is no smaller: `budgetOfEffort` backwards. */
export function effortOfBudget(tokens: number): Effort {
  const rising = ["minimal", "low", "medium", "high", "xhigh"] as const;
  return rising.find((effort) => tokens <= budgetOfEffort[effort]) ?? "max";
}

/** The effort on offer that is nearest to the wish, the smaller of two; undefined where none is. */
export function nearestEffort(wish: Effort, offered: readonly Effort[]): Effort | undefined {
  const distance = (effort: Effort): number => Math.abs(efforts.indexOf(effort) - efforts.indexOf(wish));
  // Thinking a little is not what somebody asked for who wants none, nor the other way round.
  const alike =
    wish === "none" ? offered.filter((effort) => effort === "none") : offered.filter((one) => one !== "none");
  return alike.toSorted((a, b) => distance(a) - distance(b) || efforts.indexOf(a) - efforts.indexOf(b))[0];
}

/** How much the model is to think, as far as an effort can say it: `off` for not at all. */
interface EffortWish {
  mode?: string | undefined;
  effort?: Effort | undefined;
  budgetTokens?: number | undefined;
}

/**
 * The effort to ask an upstream for that knows no budgets: a budget becomes the one that stands for it. Where thinking is
 * switched off, nothing says so to an upstream that is not known to understand it: most refuse an effort that they don't
 * have. `offered` is undefined where it is not known what they have.
 */
export function effortFor(
  reasoning: EffortWish | undefined,
  offered: readonly Effort[] | undefined,
): Effort | undefined {
  if (reasoning === undefined) return undefined;
  const { effort, budgetTokens, mode } = reasoning;
  const off = mode === "off" && offered?.includes("none") === true ? "none" : undefined;
  const wish =
    mode === "off" ? off : (effort ?? (budgetTokens === undefined ? undefined : effortOfBudget(budgetTokens)));
  if (wish === undefined || offered === undefined) return wish;
  return nearestEffort(wish, offered);
}
