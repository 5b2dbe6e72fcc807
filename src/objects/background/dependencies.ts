import type { WorkDependencies } from "../../charges/index.ts";
import type { RandomBytes } from "../../core/index.ts";
import type { JobStore } from "../../jobs/index.ts";
import type { ModelRouter } from "../../routing/index.ts";
import type { AskDependencies } from "../../sending/index.ts";
import type { Ticker } from "../../streaming/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { StoredObjects } from "../owners/stored-objects.ts";
import type { ResponseStore } from "../responses/store.ts";
import type { BackgroundStore } from "./store.ts";

/** The kind of the jobs of responses in the background. */
export const BACKGROUND_JOB = "background-response";

export interface BackgroundDependencies {
  background: BackgroundStore;
  responses: ResponseStore;
  storedObjects: StoredObjects;
  jobs: JobStore;
  work: WorkDependencies;
  asking: AskDependencies;
  router: ModelRouter;
  ticker: Ticker;
  randomBytes: RandomBytes;
  logger: Logger;
  /** The name of this process. */
  node: string;
}
