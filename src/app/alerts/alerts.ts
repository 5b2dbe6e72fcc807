/** The part of the composition for alerts: the reports of each process, and the jobs that look at the rules and send. */
import {
  ALERT_JOB,
  AlertBook,
  AlertJobs,
  Conditions,
  type Crossing,
  openAlertStore,
  openNoticeStore,
  OWN_ALERT_JOB,
  OwnAlerts,
  ProcessCounts,
  reportConditions,
  storageConditions,
} from "../../alerts/index.ts";
import { auditOf } from "./audit.ts";
import type { WorkObserver } from "../../charges/index.ts";
import type { Config } from "../../config/index.ts";
import { type Clock, type Environment, everyUnref } from "../../core/index.ts";
import type { RunningPart } from "../../http/index.ts";
import type { JobHandler, JobStore } from "../../jobs/index.ts";
import { openSpendingReader } from "../../ledger/index.ts";
import { openNodeStore } from "../../nodes/index.ts";
import type { CatalogLayers } from "../../pricing/index.ts";
import { type ModelRouter, openTargetStore } from "../../routing/index.ts";
import type { Storage } from "../../storage/index.ts";
import type { WebhookDelivery } from "../../webhooks/index.ts";
import type { Logger } from "../../telemetry/index.ts";

/** A report that is older is of a process that has ended. */
const REPORT_MS_MAX = 60_000;

/** The counts of a process, which begin with the first configuration that has alerts. */
export interface AlertCounting {
  counts: () => ProcessCounts;
}

export function createAlertCounting(clock: Clock, observe: (observer: WorkObserver) => void): AlertCounting {
  let counts: ProcessCounts | undefined;
  return {
    counts() {
      if (counts === undefined) {
        counts = new ProcessCounts(clock);
        observe(counts);
      }
      return counts;
    },
  };
}

/** The parts that outlive a configuration. */
export interface AlertParts {
  alertCounts: AlertCounting;
  journal: { readonly size: number };
}

interface AlertsOptions {
  config: Config;
  environment: Environment;
  storage: Storage;
  logger: Logger;
  lasting: AlertParts;
  jobs: JobStore;
  router: Pick<ModelRouter, "withPrefix">;
  node: string;
  catalogs: () => CatalogLayers;
  /** Runs the due jobs of a kind. */
  wake: (kind: string) => void;
}

interface Alerts {
  handlers: [string, JobHandler][];
  /** Reports this process's observations until it stops. */
  part: RunningPart;
}

/** Undefined if the configuration has no alerts. */
export function createAlerts(options: AlertsOptions): Alerts | undefined {
  const { config, environment, storage, logger, jobs, router, node, catalogs, wake } = options;
  const { alerts } = config;
  if (alerts === undefined) return undefined;
  const { clock, randomBytes, randomFraction, fetch } = environment;
  const store = openAlertStore(storage);
  const onScheduled = (): void => wake(ALERT_JOB);
  const book = new AlertBook({ config: alerts, store, randomBytes, node, logger, onScheduled });
  const sources = {
    spending: openSpendingReader(storage),
    targets: openTargetStore(storage),
    hasKey: (prefix: string, keyId: string) => router.withPrefix(prefix)?.keys.ids.includes(keyId) === true,
    nodes: openNodeStore(storage),
    jobs,
    catalogs,
    clock,
  };
  const reportMsMax = Math.max(REPORT_MS_MAX, 4 * alerts.every);
  const conditions = new Conditions(
    { ...storageConditions(sources), ...reportConditions(() => store.reportsSince(clock() - reportMsMax)) },
    (rule, reason) => logger.warn({ rule, reason: String(reason) }, "an alert's rule can't be checked"),
  );
  const audit = async (): Promise<Crossing[]> =>
    (await auditOf(storage)).map(({ accountId: account, counter: value }) => ({ rule: "audit_drift", account, value }));
  const handler = new AlertJobs({
    config: alerts,
    book,
    store,
    conditions,
    audit,
    fetch,
    clock,
    randomFraction,
    logger,
  });
  return { handlers: [[ALERT_JOB, handler]], part: reporting(options, { store, handler, everyMs: alerts.every }) };
}

interface OwnAlertsOptions extends Pick<AlertsOptions, "config" | "environment" | "storage" | "jobs" | "wake"> {
  delivery: WebhookDelivery;
}

/** How often budgets are looked at without a configuration of alerts. */
const LOOK_MS = 15_000;

/** Alerts of users about their own budgets, which need no configuration. */
export function createOwnAlerts({ config, environment, storage, jobs, wake, delivery }: OwnAlertsOptions): OwnAlerts {
  const { clock, randomBytes } = environment;
  return new OwnAlerts({
    store: openNoticeStore(storage),
    spending: openSpendingReader(storage),
    delivery,
    jobs,
    clock,
    randomBytes,
    everyMs: config.alerts?.every ?? LOOK_MS,
    onScheduled: () => wake(OWN_ALERT_JOB),
  });
}

interface Reporting {
  store: ReturnType<typeof openAlertStore>;
  handler: AlertJobs;
  everyMs: number;
}

/** A storage that does not answer is asked again at the next turn. */
function reporting(options: AlertsOptions, { store, handler, everyMs }: Reporting): RunningPart {
  const { environment, lasting, jobs, node, logger } = options;
  const counts = lasting.alertCounts.counts();
  let hasJobs = false;
  let hasReport = false;
  const report = async (): Promise<void> => {
    if (!hasJobs) for (const job of handler.standing) await jobs.put(job);
    hasJobs = true;
    const current = counts.report(lasting.journal.size);
    if (current === undefined && !hasReport) return;
    await store.putReport(node, environment.clock(), current ?? { calls: {}, unpriced: {}, shortfall: 0, journal: 0 });
    hasReport = current !== undefined;
  };
  const run = (): void => {
    report().catch((reason: unknown) => logger.warn({ reason: String(reason) }, "alerts are not reported"));
  };
  run();
  const stop = everyUnref(everyMs, run);
  return { retire: stop, close: stop };
}
