import type { Services } from "../../services.ts";
import type { AdminNeeds } from "../admin-route.ts";

/** The parts of a running gateway that its operator looks at. */
export interface OperatorNeeds
  extends AdminNeeds, Pick<Services, "router" | "listPrices" | "models" | "targets" | "jobs" | "alerts" | "config"> {
  crawls: Pick<Services["crawls"], "list">;
}
