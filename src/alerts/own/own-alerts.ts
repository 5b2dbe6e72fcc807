/**
 * Messages to users about the use of their own budgets, to the channels that they have set. A look of one process compares the
 * budgets with the notices; each threshold that is crossed, and each that is over, is one message, signed with the user's secret.
 */
import { z } from "zod";
import { type Clock, type JsonObject, randomId, type RandomBytes } from "../../core/index.ts";
import type { Job, JobHandler, JobResult, JobStore, NewJob } from "../../jobs/index.ts";
import type { SpendingReader } from "../../ledger/index.ts";
import { messageOf, readMessage, type WebhookDelivery } from "../../webhooks/index.ts";
import type { AlertEvent } from "../alert.ts";
import type { NotedNotice, Notice, NoticeChange, NoticeStore, WatchedBudget } from "./store.ts";

/** The kinds of its jobs: the messages, and the look, which has turns of its own: receivers that never answer must not keep it from them. */
export const OWN_ALERT_JOB = "own_alert";
const OWN_ALERT_LOOK_JOB = "own_alert_look";

/** Changes of one look; the rest are found by the next one, which begins at once. */
const CHANGES_MAX = 200;

const ID_CHARACTERS = 20;

const RUN_MS_MAX = 60_000;

interface OwnAlertsOptions {
  store: NoticeStore;
  spending: Pick<SpendingReader, "budgetUses">;
  delivery: Pick<WebhookDelivery, "deliverInTurn">;
  clock: Clock;
  randomBytes: RandomBytes;
  /** How often the budgets are looked at, in milliseconds. */
  everyMs: number;
  jobs: Pick<JobStore, "put">;
  /** Called when messages are due. */
  onScheduled: () => void;
}

const sending = z.object({ task: z.literal("send"), channel: z.string(), message: z.record(z.string(), z.json()) });

/** A budget as the messages of a channel have it. */
interface Use extends WatchedBudget {
  period: string | undefined;
  percent: number;
}

export class OwnAlerts implements JobHandler {
  /** A look is never given up; a message counts its own attempts. */
  readonly attemptsMax = Number.MAX_SAFE_INTEGER;
  readonly runMsMax = RUN_MS_MAX;
  readonly concurrencyMax = 64;
  readonly #options: OwnAlertsOptions;

  constructor(options: OwnAlertsOptions) {
    this.#options = options;
  }

  /** By the kinds of jobs. */
  get handlers(): [kind: string, handler: JobHandler][] {
    const { attemptsMax, runMsMax } = this;
    const look = { attemptsMax, runMsMax, concurrencyMax: 1, run: () => this.#look() };
    return [
      [OWN_ALERT_JOB, this],
      [OWN_ALERT_LOOK_JOB, { ...look, onExhausted: () => this.onExhausted() }],
    ];
  }

  /** The look, which never ends. It is added with a channel, and stays if it is there already. */
  get look(): NewJob {
    const at = this.#options.clock();
    const task: JsonObject = { task: "look" };
    return { id: OWN_ALERT_LOOK_JOB, kind: OWN_ALERT_LOOK_JOB, owner: "look", payload: task, runAt: at, createdAt: at };
  }

  async run({ owner, payload }: Job, { signal }: { signal: AbortSignal }): Promise<JobResult> {
    const read = sending.safeParse(payload).data;
    const { store, delivery, jobs } = this.#options;
    if (read === undefined) {
      // The look of an earlier version, among the messages: one of its own kind takes its place.
      await jobs.put(this.look);
      return { done: true };
    }
    // Whoever has deleted the channel wants no more.
    if (!(await store.hasChannel(read.channel))) return { done: true };
    const result = await delivery.deliverInTurn(owner, readMessage(read.message), signal);
    return "again" in result ? { ...result, again: { ...read, message: result.again } } : result;
  }

  onExhausted(): Promise<void> {
    return Promise.resolve();
  }

  async #look(): Promise<JobResult> {
    const { store, everyMs, onScheduled } = this.#options;
    const noted = await store.notices();
    const uses = await this.#uses(await store.watched());
    const changes = this.#changes(uses, noted);
    const opened = changes.opened.slice(0, CHANGES_MAX);
    const closed = changes.closed.slice(0, CHANGES_MAX - opened.length);
    const count = opened.length + closed.length;
    if (count > 0) {
      await store.settle({ opened, closed });
      onScheduled();
    }
    return { again: { task: "look" }, afterMs: count === CHANGES_MAX ? 0 : everyMs };
  }

  async #uses(watched: readonly WatchedBudget[]): Promise<Use[]> {
    if (watched.length === 0) return [];
    const { spending, clock } = this.#options;
    const used = await spending.budgetUses([...new Set(watched.map(({ accountId }) => accountId))], clock());
    const byAccount = new Map(used.map((use) => [use.accountId, use]));
    return watched.flatMap((each) => {
      const use = byAccount.get(each.accountId);
      return use === undefined ? [] : [{ ...each, ...use }];
    });
  }

  #changes(uses: readonly Use[], noted: readonly NotedNotice[]) {
    const open = new Map(noted.map((notice) => [keyOf(notice), notice]));
    const crossed = new Set<string>();
    const opened: NoticeChange[] = [];
    for (const use of uses) {
      for (const threshold of use.thresholds) {
        if (use.percent < threshold) continue;
        const key = keyOf({ ...use, threshold });
        crossed.add(key);
        if (!open.has(key)) opened.push(this.#open(use, threshold));
      }
    }
    const over = noted.filter((notice) => !crossed.has(keyOf(notice)));
    return { opened, closed: over.map((notice) => this.#close(notice)) };
  }

  #open(use: Use, threshold: number): NoticeChange {
    const { clock, randomBytes } = this.#options;
    const { channelId, accountId, period, percent: value } = use;
    const id = randomId(randomBytes, ID_CHARACTERS);
    const notice = { id, channelId, accountId, period, threshold, value, openedAt: clock() };
    return { notice, message: this.#message(use, notice, "opened") };
  }

  /** There is no message of the end if the channel was deleted. */
  #close({ owner, url, ...notice }: NotedNotice): NoticeChange {
    const isThere = owner !== undefined && url !== undefined;
    return { notice, message: isThere ? this.#message({ owner, url }, notice, "closed") : undefined };
  }

  #message({ owner, url }: Pick<WatchedBudget, "owner" | "url">, notice: Notice, event: AlertEvent): NewJob {
    const at = this.#options.clock();
    const { channelId: channel, accountId: account, period = null, threshold, value } = notice;
    const id = `alert_${notice.id}_${event}`;
    const data = { rule: "budget", account, period, threshold, value, channel };
    const message: JsonObject = { ...messageOf({ id, owner, url, type: `alert.${event}`, data, at }) };
    return {
      id: `${OWN_ALERT_JOB}:${id}`,
      kind: OWN_ALERT_JOB,
      owner,
      payload: { task: "send", channel, message },
      runAt: at,
      createdAt: at,
    };
  }
}

const keyOf = ({
  channelId,
  accountId,
  period,
  threshold,
}: Pick<Notice, "channelId" | "accountId" | "period" | "threshold">) =>
  JSON.stringify([channelId, accountId, period, threshold]);
