import { Charge, type WorkDependencies } from "./charge.ts";
import { fromParkedWork, type ParkedWork } from "./parked-work.ts";
import { Work } from "./work.ts";

/**
 * Goes on with parked work, on any node: it is metered, topped up, parked again or ended as if it had never been away. The
 * job that has it must be leased by this process alone, and a run that doesn't end or park the work must `leave` it. Its hold
 * keeps the job's lease. If that has run out meanwhile, the work's end corrects the charge.
 */
export function resumeWork(deps: WorkDependencies, parked: ParkedWork): Work {
  const { order, holding, markupMillionths } = fromParkedWork(parked);
  const own: WorkDependencies = { ...deps, markupMillionths };
  return new Work(own, order, new Charge(own, order, holding, { keeper: "job" }));
}
