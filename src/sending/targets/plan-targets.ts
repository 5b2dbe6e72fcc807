/** The plans of the targets of one piece of work, each made when the turn of its target comes. */
import { exceedsWindow, likelyInput, type WorkOrder } from "../../charges/index.ts";
import { type FailureName, GatewayError, type Nano, type Operation } from "../../core/index.ts";
import type { CallTargets, Target } from "../../routing/index.ts";
import { type FailedAttempt, mayRepeat, repeatRules } from "../repeat-rule.ts";
import { decidingClass } from "./failures.ts";

/** What the choice of a target depends on. */
export interface TargetPlan {
  order: WorkOrder;
  /** The key that has made an object which the request refers to: its provider alone has that object. */
  pinnedKeyId?: string | undefined;
}

type PlanFor<Plan> = (target: Target) => Plan | Promise<Plan>;

interface FirstChoice {
  costOf: (order: WorkOrder) => Nano;
  /** The prefix of the provider whose targets come before all others; undefined for none. */
  preferred?: string | undefined;
}

/** The plan of the first target that can be asked. Throws the reason of the first one that cannot if there is none. */
export async function planFirst<Plan extends TargetPlan>(
  targets: CallTargets,
  planFor: PlanFor<Plan>,
  { costOf, preferred }: FirstChoice,
): Promise<Plan> {
  if (targets.areByCost) {
    await targets.orderByCost(async (target) => {
      try {
        return costOf((await planFor(target)).order);
      } catch (thrown) {
        if (thrown instanceof GatewayError) return undefined;
        throw thrown;
      }
    });
  }
  if (preferred !== undefined) targets.prefer(preferred, { alone: false });
  const plan = await planNext(targets, planFor);
  if (plan === undefined) throw targets.unusable;
  return plan;
}

/** The plan of the next target before any has been asked; undefined if there is none. */
export async function planNext<Plan extends TargetPlan>(
  targets: CallTargets,
  planFor: PlanFor<Plan>,
): Promise<Plan | undefined> {
  let skippedFor: FailureName | undefined;
  for (let target = targets.next(); target !== undefined; target = targets.next(skippedFor)) {
    const plan = await planOrSkip(targets, planFor, target);
    if (plan === undefined || !targets.takesInput(likelyInput(plan.order))) continue;
    if (plan.pinnedKeyId !== undefined) targets.prefer(target.route.prefix, { alone: true });
    if (!targets.hasFor("context_window") || !exceedsWindow(plan.order)) return plan;
    skippedFor = "context_window";
  }
  return undefined;
}

interface Move<Plan> {
  operation: Operation;
  /** Of the target before. */
  failures: readonly FailedAttempt[];
  /** Whether attempts and time are left. */
  mayAsk: () => boolean;
  planFor: PlanFor<Plan>;
  /** Gives the hold of the work to the plan's target. Resolves with whether it has it. */
  moveTo: (plan: Plan) => Promise<boolean>;
}

/** The plan of the next target after a failure, which has the hold then; undefined if there is none. */
export async function moveOn<Plan extends TargetPlan>(
  targets: CallTargets,
  { operation, failures, mayAsk, planFor, moveTo }: Move<Plan>,
): Promise<Plan | undefined> {
  const rule = repeatRules[operation];
  const after = decidingClass(failures);
  if (after === undefined || !failures.every((failed) => mayRepeat(rule, failed))) return undefined;
  while (mayAsk()) {
    const target = targets.next(after);
    if (target === undefined) return undefined;
    const plan = await planOrSkip(targets, planFor, target);
    // Unsent, unless it is the last one for this failure: the provider's own error is clearer.
    if (plan === undefined || !targets.takesInput(likelyInput(plan.order))) continue;
    const isTooLong = targets.hasFor(after) && exceedsWindow(plan.order);
    if (!isTooLong && (await moveTo(plan))) return plan;
  }
  return undefined;
}

async function planOrSkip<Plan>(
  targets: CallTargets,
  planFor: PlanFor<Plan>,
  target: Target,
): Promise<Plan | undefined> {
  try {
    return await planFor(target);
  } catch (thrown) {
    targets.skip(thrown);
    return undefined;
  }
}
