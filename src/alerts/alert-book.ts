/**
 * The alerts that are noted in the storage, by their states:
 *
 *   pending ──lasts as long as its rule asks for──▶ open ──is gone for as long──▶ closed
 *      └──is gone──▶ deleted
 *
 * Any process may look: each change of a state is one statement, which also schedules the messages, so that every opening and every
 * closing is sent once however many processes find it.
 */
import type { AlertRule, AlertsConfig } from "../config/index.ts";
import { randomId, type RandomBytes } from "../core/index.ts";
import type { NewJob } from "../jobs/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { type Alert, type AlertEvent, alertKey, type Crossing } from "./alert.ts";
import { afterMsOf, describeAlert } from "./rules.ts";
import { messageJobs } from "./sending/message.ts";
import type { AlertStore } from "./store.ts";

const ID_CHARACTERS = 20;

/** Alerts that one look adds; the rest are found by the next one. */
const ADDED_MAX = 200;

interface AlertBookOptions {
  config: AlertsConfig;
  store: AlertStore;
  randomBytes: RandomBytes;
  /** The name of this process. */
  node: string;
  logger: Pick<Logger, "info" | "warn">;
  /** Called when messages are due. */
  onScheduled: () => void;
}

export class AlertBook {
  readonly #options: AlertBookOptions;

  constructor(options: AlertBookOptions) {
    this.#options = options;
  }

  /** Whether the configuration wants the rule. */
  wants(rule: AlertRule): boolean {
    return this.#options.config.rules[rule]?.off !== true;
  }

  /** Compares the noted alerts of these rules with what they find now. Alerts of a rule that is off are over. */
  async settle(rules: ReadonlySet<AlertRule>, found: readonly Crossing[], at: number): Promise<void> {
    const { store } = this.#options;
    const crossings = new Map(found.map((crossing) => [alertKey(crossing), crossing]));
    const noted = new Set<string>();
    for (const alert of await store.active()) {
      noted.add(alertKey(alert));
      if (rules.has(alert.rule) || !this.wants(alert.rule))
        await this.#compare(alert, crossings.get(alertKey(alert)), at);
    }
    const added = [...crossings]
      .filter(([key, { keepsOpen }]) => !noted.has(key) && keepsOpen !== true)
      .slice(0, ADDED_MAX);
    for (const [, crossing] of added) await this.#add(crossing, at);
  }

  async #add(crossing: Crossing, at: number): Promise<void> {
    const { store, randomBytes, node } = this.#options;
    const id = randomId(randomBytes, ID_CHARACTERS);
    const alert: Alert = { ...crossing, id, node, since: at, openedAt: undefined, goneAt: undefined };
    await store.add(alert);
    await this.#compare(alert, crossing, at);
  }

  async #compare(alert: Alert, crossing: Crossing | undefined, at: number): Promise<void> {
    const { store, config } = this.#options;
    const afterMs = afterMsOf(alert.rule, config);
    if (crossing !== undefined) {
      if (alert.goneAt !== undefined) await store.setGone(alert.id, undefined);
      if (alert.openedAt === undefined && at - alert.since >= afterMs)
        await this.#move({ ...alert, ...crossing }, "opened", at);
      return;
    }
    if (alert.openedAt === undefined) return store.drop(alert.id);
    const goneAt = alert.goneAt ?? at;
    if (at - goneAt >= afterMs || !this.wants(alert.rule)) return this.#move(alert, "closed", at);
    if (alert.goneAt === undefined) await store.setGone(alert.id, at);
  }

  async #move(alert: Alert, event: AlertEvent, at: number): Promise<void> {
    const { store, config, logger, onScheduled, node } = this.#options;
    const jobs: NewJob[] = messageJobs({ ...alert, node }, event, { config, at });
    const isMine = await (event === "opened" ? store.open(alert.id, at, jobs) : store.close(alert.id, at, jobs));
    if (!isMine) return;
    const { rule, account, period, threshold, value } = alert;
    const line = { rule, account, period, threshold, value, means: describeAlert(alert) };
    if (event === "opened") logger.warn(line, "alert opened");
    else logger.info(line, "alert closed");
    if (jobs.length > 0) onScheduled();
  }
}
