/** Counts paid work by operation, provider, model and end. */
import type { AttemptReport, CommitReport, WorkObserver, WorkOrder, WorkReport } from "../charges/index.ts";
import {
  bucketNames,
  type GatewayError,
  NANO_PER_CREDIT,
  outputTokens,
  type Usage,
  type UsageBucket,
  usageBuckets,
} from "../core/index.ts";
import type { CallRecord } from "../ledger/index.ts";
import { AccountCounts, type AccountLabels } from "./account-counts.ts";
import { counter, type Labels, type MetricFamily, type Sample } from "./family.ts";
import { Histogram, histogramFamily } from "./histogram.ts";

/** Models with series of their own; those that come later share the label `other`. */
const MODELS_MAX = 500;

/** The label of a model without series of its own: one beyond the bound, or that has never answered. */
const OTHER = "other";

/** Work whose attempts are remembered until it ends. A job may end in another process. */
const OPEN_WORKS_MAX = 10_000;

const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const ADDED_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];
const TOKENS_PER_SECOND = [5, 10, 20, 40, 80, 160, 320, 640, 1_280];

/** The counts of one operation, provider and model. */
interface CallSeries {
  labels: { operation: string; provider: string; model: string };
  /** By the class of the end. */
  calls: Map<string, number>;
  units: Map<UsageBucket, number>;
  credits: number;
  listCredits: number;
  unbilled: number;
  times: TimeSeries;
}

/** The times of one operation and provider. */
interface TimeSeries {
  labels: { operation: string; provider: string };
  duration: Histogram;
  firstByte: Histogram;
  added: Histogram;
  speed: Histogram;
}

/** The attempts of work that has not ended. */
interface OpenWork {
  attempts: number;
  last: AttemptReport;
}

export class CallMetrics implements WorkObserver {
  readonly #series = new Map<string, CallSeries>();
  readonly #times = new Map<string, TimeSeries>();
  readonly #models = new Set<string>();
  readonly #open = new Map<string, OpenWork>();
  readonly #failovers = new Counts<"from" | "to">();
  readonly #accounts: AccountCounts | undefined;
  readonly #attempts = new Counts<"provider" | "class">();
  readonly #refusals = new Counts<"operation" | "code">();
  #shortfall = 0;
  /** Ends whose model is counted as another one. */
  #unnamed = 0;

  constructor({ accounts }: { accounts?: AccountLabels | undefined } = {}) {
    this.#accounts = accounts && new AccountCounts(accounts);
  }

  attempted(attempt: AttemptReport): void {
    const { workId, provider, failure } = attempt;
    this.#attempts.add({ provider, class: failure ?? "ok" });
    if (workId === undefined) return;
    const open = this.#open.get(workId);
    if (open !== undefined) {
      const { last } = open;
      if (last.failure !== undefined && (last.provider !== provider || last.model !== attempt.model))
        this.#failovers.add({ from: last.provider, to: provider });
      open.attempts += 1;
      open.last = attempt;
      return;
    }
    this.#open.set(workId, { attempts: 1, last: attempt });
    if (this.#open.size > OPEN_WORKS_MAX) this.#open.delete(this.#open.keys().next().value ?? "");
  }

  refused({ operation }: WorkOrder, { code }: GatewayError): void {
    this.#refusals.add({ operation, code });
  }

  ended(report: WorkReport): void {
    const { record, credits, unbilled, error } = report;
    const { id } = report.order;
    this.#accounts?.add(report);
    const open = this.#open.get(id);
    this.#open.delete(id);
    const series = this.#seriesOf(record);
    const name = classOf(record, open, error);
    series.calls.set(name, (series.calls.get(name) ?? 0) + 1);
    addUnits(series.units, record.usage);
    series.credits += Number(credits);
    series.listCredits += (record.listCredits ?? 0) / Number(NANO_PER_CREDIT);
    if (unbilled !== undefined) series.unbilled += Number(unbilled);
    observeTimes(series.times, record, open);
  }

  committed({ shortfall }: CommitReport): void {
    if (shortfall > 0n) this.#shortfall += Number(shortfall) / Number(NANO_PER_CREDIT);
  }

  #seriesOf({ operation, provider, model: named, outcome }: CallRecord): CallSeries {
    const model = this.#labelOf(provider, named, outcome);
    const key = `${operation} ${provider} ${model}`;
    let series = this.#series.get(key);
    if (series === undefined) {
      const labels = { operation, provider, model };
      const times = this.#timesOf(operation, provider);
      series = { labels, calls: new Map(), units: new Map(), credits: 0, listCredits: 0, unbilled: 0, times };
      this.#series.set(key, series);
    }
    return series;
  }

  /** Names are the callers' where a pattern gives the price, so that only one that has answered counts as a model. */
  #labelOf(provider: string, model: string, outcome: CallRecord["outcome"]): string {
    const id = `${provider}/${model}`;
    if (this.#models.has(id)) return model;
    if (outcome === "complete" && this.#models.size < MODELS_MAX) {
      this.#models.add(id);
      return model;
    }
    this.#unnamed += 1;
    return OTHER;
  }

  #timesOf(operation: string, provider: string): TimeSeries {
    const key = `${operation} ${provider}`;
    let times = this.#times.get(key);
    if (times === undefined) {
      times = {
        labels: { operation, provider },
        duration: new Histogram(SECONDS),
        firstByte: new Histogram(SECONDS),
        added: new Histogram(ADDED_SECONDS),
        speed: new Histogram(TOKENS_PER_SECOND),
      };
      this.#times.set(key, times);
    }
    return times;
  }

  /** The counts since the start of the process. */
  families(): MetricFamily[] {
    const all = [...this.#series.values()];
    const sumOf = (key: "credits" | "listCredits" | "unbilled"): Sample[] =>
      all.map((series) => ({ labels: series.labels, value: series[key] }));
    const timesOf = (key: "duration" | "firstByte" | "added" | "speed"): [Labels, Histogram][] =>
      [...this.#times.values()].map((times) => [times.labels, times[key]]);
    return [
      counter("tollgate_calls_total", "Paid work that has ended, by how it ended.", all.flatMap(callSamples)),
      counter("tollgate_units_total", "Tokens and other billed units.", all.flatMap(unitSamples)),
      counter("tollgate_credits_total", "Credits that were charged.", sumOf("credits")),
      counter("tollgate_list_credits_total", "The list price of what was charged, in credits.", sumOf("listCredits")),
      counter(
        "tollgate_unbilled_credits_total",
        "Credits that an upstream may bill and nobody was charged for.",
        sumOf("unbilled"),
      ),
      counter("tollgate_shortfall_credits_total", "Credits that were owed beyond a balance.", [
        { labels: {}, value: this.#shortfall },
      ]),
      counter("tollgate_refusals_total", "Paid work that the ledger refused to begin.", this.#refusals.samples()),
      counter("tollgate_attempts_total", "Requests to upstreams, by the class of failure.", this.#attempts.samples()),
      counter(
        "tollgate_failovers_total",
        "Requests to another target after one that failed, by provider.",
        this.#failovers.samples(),
      ),
      ...(this.#accounts?.families() ?? []),
      counter("tollgate_unnamed_calls_total", "Calls counted under the model other.", [
        { labels: {}, value: this.#unnamed },
      ]),
      histogramFamily("tollgate_call_seconds", "From the arrival of a call to its end.", timesOf("duration")),
      histogramFamily("tollgate_first_byte_seconds", "To the first byte of a streamed answer.", timesOf("firstByte")),
      histogramFamily(
        "tollgate_added_seconds",
        "Time to the first byte, or to the whole answer, without that of the upstream; of calls with one attempt.",
        timesOf("added"),
      ),
      histogramFamily(
        "tollgate_output_tokens_per_second",
        "Speed of streamed text from its first byte on.",
        timesOf("speed"),
      ),
    ];
  }
}

/** How work ended: `ok`, `abandoned`, `interrupted`, or the class of its failure as in `docs/routing.md`. */
function classOf({ outcome }: CallRecord, open: OpenWork | undefined, error: GatewayError | undefined): string {
  if (outcome === "complete") return "ok";
  if (outcome !== "failed") return outcome;
  return open?.last.failure ?? (error?.fault === "gateway" ? "gateway" : "request");
}

function addUnits(units: Map<UsageBucket, number>, usage: Usage): void {
  for (const bucket of usageBuckets) {
    const more = usage[bucket];
    if (more !== undefined && more > 0) units.set(bucket, (units.get(bucket) ?? 0) + more);
  }
}

function observeTimes(times: TimeSeries, record: CallRecord, open: OpenWork | undefined): void {
  const { milliseconds, millisecondsToFirstByte: firstMs, usage } = record;
  times.duration.observe(milliseconds / 1_000);
  if (record.streamed && firstMs !== undefined) {
    times.firstByte.observe(firstMs / 1_000);
    const tokens = outputTokens(usage);
    const writingMs = milliseconds - firstMs;
    if (tokens > 0 && writingMs > 0) times.speed.observe((tokens * 1_000) / writingMs);
  }
  if (open?.attempts !== 1 || open.last.failure !== undefined) return;
  const answeredMs = record.streamed ? (firstMs ?? milliseconds) : milliseconds;
  times.added.observe(Math.max(0, answeredMs - open.last.milliseconds) / 1_000);
}

function callSamples({ labels, calls }: CallSeries): Sample[] {
  return [...calls].map(([name, value]) => ({ labels: { ...labels, class: name }, value }));
}

function unitSamples({ labels, units }: CallSeries): Sample[] {
  return [...units].map(([bucket, value]) => ({ labels: { ...labels, unit: bucketNames[bucket] }, value }));
}

/** Counts by a few labels with few values. */
class Counts<Label extends string> {
  readonly #counts = new Map<string, { labels: Readonly<Record<Label, string>>; value: number }>();

  add(labels: Readonly<Record<Label, string>>): void {
    const key = Object.values(labels).join(" ");
    const count = this.#counts.get(key);
    if (count === undefined) this.#counts.set(key, { labels, value: 1 });
    else count.value += 1;
  }

  samples(): Sample[] {
    return [...this.#counts.values()];
  }
}
