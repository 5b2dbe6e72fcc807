import type { WorkDependencies } from "./dependencies.ts";
import { fromParkedWork, type ParkedWork } from "./parked-work.ts";
import { WorkCost } from "./work-cost.ts";
import { Work } from "./work.ts";

/**
 * Continues parked work, on any node: it is metered, topped up or ended like other work. The job must be
 * leased by this process alone, and a run that neither ends nor parks the work must call `leave`. The hold keeps the
 * job's lease. If that has expired meanwhile, the work's end corrects the charge.
 */
export function resumeWork(deps: WorkDependencies, parked: ParkedWork): Work {
  const { order, holding, asked } = fromParkedWork(parked);
  return new Work(deps, order, new WorkCost(order), { ...holding, keeper: "job", asked });
}
