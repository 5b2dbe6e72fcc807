/** The state of a process and of the storage, read at a scrape. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import process from "node:process";
import { NANO_PER_CREDIT, type QueueLoad } from "../core/index.ts";
import type { WaitingJobs } from "../jobs/index.ts";
import type { HeldNow } from "../ledger/index.ts";
import { counter, gauge, type MetricFamily, type Sample } from "./family.ts";

export interface GaugeSources {
  /** Paid work that runs in this process. */
  calls: { readonly active: number };
  /** Open WebSockets. */
  sockets: { readonly active: number };
  queues: Readonly<Record<string, QueueLoad>>;
  memory: { readonly used: number; readonly bytesMax: number };
  /** Targets that are left out for a while; undefined if none ever is. */
  circuits: { readonly open: number } | undefined;
  /** Ends that the storage has not accepted yet. */
  unsettled: { readonly size: number };
  /** Those of them that are durable in the journal. */
  journal: { readonly size: number };
  /** Spans for a collector; undefined if none are recorded. */
  spans: { readonly sent: number; readonly dropped: number } | undefined;
  /** The open holds of the storage. */
  held: () => Promise<HeldNow>;
  /** Its jobs that are due. */
  dueJobs: () => Promise<WaitingJobs>;
  /** The age of the price catalog in days; undefined if it has no date. */
  catalogDays: () => number | undefined;
  /** In milliseconds since the epoch. */
  now: () => number;
}

const QUANTILES = [0.5, 0.99, 1];
const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;

export class Gauges {
  readonly #sources: GaugeSources;
  readonly #loop = monitorEventLoopDelay({ resolution: 20 });

  constructor(sources: GaugeSources) {
    this.#sources = sources;
    this.#loop.enable();
  }

  stop(): void {
    this.#loop.disable();
  }

  /** Those of the storage are left out while it does not answer. */
  async families(): Promise<MetricFamily[]> {
    return [...(await this.#ofStorage()), ...this.#ofGateway(), ...this.#ofProcess()];
  }

  async #ofStorage(): Promise<MetricFamily[]> {
    const { held, dueJobs, now } = this.#sources;
    try {
      const [{ open, amount, oldestAt }, jobs] = await Promise.all([held(), dueJobs()]);
      const credits = Number(amount) / Number(NANO_PER_CREDIT);
      const secondsSince = (at = now()): number => Math.max(0, now() - at) / 1_000;
      return [
        gauge("tollgate_open_holds", "Open holds in the storage.", open, "max"),
        gauge("tollgate_held_credits", "Credits in open holds.", credits, "max"),
        gauge("tollgate_oldest_hold_seconds", "The age of the oldest open hold.", secondsSince(oldestAt), "max"),
        gauge("tollgate_due_jobs", "Jobs in the storage that are due and wait for a process.", jobs.count, "max"),
        gauge(
          "tollgate_oldest_due_job_seconds",
          "How long the first of them waits.",
          secondsSince(jobs.oldestAt),
          "max",
        ),
      ];
    } catch {
      return [];
    }
  }

  #ofGateway(): MetricFamily[] {
    const { calls, sockets, queues, memory, circuits, unsettled, journal, catalogDays, spans } = this.#sources;
    const days = catalogDays();
    return [
      gauge("tollgate_running_calls", "Paid work that runs now.", calls.active),
      gauge("tollgate_open_sockets", "Open WebSockets.", sockets.active),
      queueFamily("tollgate_queue_running", "Tasks that have a place.", queues, "running"),
      queueFamily("tollgate_queue_waiting", "Tasks that wait for a place.", queues, "waiting"),
      counter("tollgate_queue_started_total", "Tasks that have got a place.", samplesOf(queues, "started")),
      counter(
        "tollgate_queue_wait_seconds_total",
        "How long they have waited for it.",
        samplesOf(queues, "waitedMs", 1_000),
      ),
      gauge("tollgate_memory_used_bytes", "Memory of large bodies and answers, and of sockets.", memory.used),
      gauge("tollgate_memory_limit_bytes", "The most that it may be: server.memory_limit.", memory.bytesMax),
      gauge("tollgate_open_circuits", "Targets that are left out for a while.", circuits?.open ?? 0),
      gauge("tollgate_unsettled_calls", "Ends that the storage has not accepted yet.", unsettled.size),
      gauge("tollgate_journal_entries", "Ends that wait in the journal for the storage.", journal.size),
      ...(spans === undefined
        ? []
        : [
            counter("tollgate_spans_total", "Spans that the collector took, and those that were dropped.", [
              { labels: { outcome: "sent" }, value: spans.sent },
              { labels: { outcome: "dropped" }, value: spans.dropped },
            ]),
          ]),
      ...(days === undefined
        ? []
        : [gauge("tollgate_price_catalog_days", "The age of the price catalog in days.", days, "max")]),
    ];
  }

  /** The names of the process are those of Prometheus's own client libraries. */
  #ofProcess(): MetricFamily[] {
    const { user, system } = process.cpuUsage();
    const delays = QUANTILES.map((quantile) => ({
      labels: { quantile: String(quantile) },
      value: (quantile === 1 ? this.#loop.max : this.#loop.percentile(quantile * 100)) / NANOSECONDS,
    }));
    this.#loop.reset();
    return [
      {
        name: "tollgate_event_loop_delay_seconds",
        help: "How late timers were since the last scrape.",
        type: "gauge",
        values: delays,
        aggregator: "max",
      },
      counter("process_cpu_seconds_total", "CPU time of the processes.", [
        { labels: {}, value: (user + system) / MICROSECONDS },
      ]),
      gauge("process_resident_memory_bytes", "Memory of the processes.", process.memoryUsage.rss()),
    ];
  }
}

type Queues = Readonly<Record<string, QueueLoad>>;

function samplesOf(queues: Queues, key: keyof QueueLoad, divisor = 1): Sample[] {
  return Object.entries(queues).map(([queue, load]) => ({ labels: { queue }, value: load[key] / divisor }));
}

function queueFamily(name: string, help: string, queues: Queues, key: keyof QueueLoad): MetricFamily {
  return { name, help, type: "gauge", values: samplesOf(queues, key), aggregator: "sum" };
}
