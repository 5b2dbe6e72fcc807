import type { BodyLimits } from "../bodies/index.ts";
import type { Clock } from "../core/index.ts";
import type { GenerationStore } from "../generations/index.ts";
import type { LedgerStore } from "../ledger/index.ts";
import type { ModelList } from "../models/index.ts";
import type { PriceQuote } from "../pricing/index.ts";
import type { ResponseStore } from "../responses/index.ts";
import type { ModelRouter } from "../routing/index.ts";
import type { AskDependencies } from "../sending/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { ChargeableServices } from "./chargeable.ts";

/** What `app.ts` builds for the features. Each route names what it needs of it. */
export interface Services extends ChargeableServices {
  clock: Clock;
  logger: Logger;
  accounts: LedgerStore;
  generations: GenerationStore;
  models: ModelList;
  router: ModelRouter;
  quote: PriceQuote;
  responses: ResponseStore;
  asking: AskDependencies;
  body: BodyLimits;
  /** The gateway's own. */
  version: string;
  /** Prefixes of the providers that are answered by simulators. */
  sandboxed: readonly string[];
  /** The OpenAPI document. */
  document: object;
}
