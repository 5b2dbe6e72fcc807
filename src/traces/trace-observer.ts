/** Builds the spans of paid work when it has ended: nothing of a trace is written while a call runs. */
import type {
  AttemptReport,
  CommitReport,
  ContentSink,
  ContentTaker,
  WorkObserver,
  WorkOrder,
  WorkReport,
} from "../charges/index.ts";
import type { Clock, GatewayError, RandomFraction } from "../core/index.ts";
import { ContentStore } from "./content-store.ts";
import { messagesOf } from "./messages.ts";
import { contentMembers, type SpanSettings, WorkTrace, type WrittenSpans } from "./spans.ts";

/** Work whose attempts are remembered until it ends. A job may end in another process. */
const OPEN_WORKS_MAX = 10_000;

/** Ended work that waits to be durable. */
const ENDED_WORKS_MAX = 5_000;

/** After so long, a trace is sent without the end of its settling: the storage may be away. */
const SETTLING_MS_MAX = 5_000;

/** Attempts of one piece of work that have a span, the first ones. */
const ATTEMPTS_MAX = 32;

/** The server span, the hold and the settling. */
const OWN_SPANS = 3;

interface TraceOptions extends SpanSettings {
  /** The share of works that are traced, unless their caller has decided. */
  sample: number;
  /** The most bytes of a prompt and of an answer in a span; undefined for spans without content. */
  contentBytesMax?: number | undefined;
  onTrace: (spans: WrittenSpans) => void;
  clock: Clock;
  randomFraction: RandomFraction;
  /** The performance clock, by which attempts and ends are measured. */
  now?: () => number;
}

interface EndedWork {
  trace: WorkTrace;
  report: WorkReport;
  hasUsage: boolean;
  /** If no request to an upstream has it. */
  content: string;
}

export class TraceObserver implements WorkObserver, ContentTaker {
  readonly #options: TraceOptions;
  readonly #now: () => number;
  readonly #open = new Map<string, AttemptReport | AttemptReport[]>();
  readonly #ended = new Map<string, EndedWork>();
  readonly #contents = new ContentStore();
  /** Whether works are traced whose content was asked for: that is decided before they run. */
  readonly #decided = new Map<string, boolean>();

  constructor(options: TraceOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  attempted(attempt: AttemptReport): void {
    const { workId } = attempt;
    if (workId === undefined) return;
    const before = this.#open.get(workId);
    if (before === undefined) {
      this.#open.set(workId, attempt);
      if (this.#open.size > OPEN_WORKS_MAX) this.#open.delete(this.#open.keys().next().value ?? "");
    } else if (!Array.isArray(before)) this.#open.set(workId, [before, attempt]);
    else if (before.length < ATTEMPTS_MAX) before.push(attempt);
    else before[ATTEMPTS_MAX - 1] = attempt;
  }

  open(order: WorkOrder, body: Uint8Array): ContentSink | undefined {
    if (this.#options.contentBytesMax === undefined || order.dialect === undefined) return undefined;
    const isSampled = this.#isSampled(order);
    this.#decided.set(order.id, isSampled);
    if (this.#decided.size > OPEN_WORKS_MAX) this.#decided.delete(this.#decided.keys().next().value ?? "");
    return isSampled ? this.#contents.open(order.id, body) : undefined;
  }

  refused(order: WorkOrder, error: GatewayError): void {
    if (!this.#isSampled(order)) return;
    const { onTrace, clock } = this.#options;
    const endedAt = clock();
    const arrivedAt = order.arrivedAt === undefined ? order.at : endedAt - (this.#now() - order.arrivedAt);
    const trace = new WorkTrace(this.#options, order, { arrivedAt, endedAt }, OWN_SPANS);
    trace.hold(endedAt, error.code);
    onTrace(trace.refuse(error));
  }

  ended(report: WorkReport): void {
    const { order, record, heldMs } = report;
    const found = this.#open.get(order.id);
    if (found !== undefined) this.#open.delete(order.id);
    const isSampled = this.#decided.get(order.id) ?? this.#isSampled(order);
    const content = this.#contentOf(order);
    if (!isSampled) return;
    const endedAt = this.#options.clock();
    // The times of attempts in those of the epoch.
    const offset = endedAt - this.#now();
    const attempts = found === undefined ? [] : [found].flat();
    const arrivedAt = endedAt - record.milliseconds;
    const trace = new WorkTrace(this.#options, order, { arrivedAt, endedAt }, OWN_SPANS + attempts.length);
    if (heldMs !== undefined) trace.hold(arrivedAt + heldMs);
    const last = attempts.at(-1);
    const answered = last?.failure === undefined ? last : undefined;
    for (const attempt of attempts) {
      const from = attempt.begunAt + offset;
      if (attempt === answered) trace.attempt(attempt, from, report, content);
      else trace.attempt(attempt, from, undefined);
    }
    const hasUsage = answered !== undefined;
    this.#ended.set(order.id, { trace, report, hasUsage, content: hasUsage ? "" : content });
    if (this.#ended.size > ENDED_WORKS_MAX) this.#giveUp(this.#ended.keys().next().value ?? "");
  }

  committed({ id }: CommitReport): void {
    const ended = this.#ended.get(id);
    if (ended === undefined) return;
    this.#ended.delete(id);
    const { trace, report, ...rest } = ended;
    const until = this.#options.clock();
    trace.settle(until);
    this.#options.onTrace(trace.finish(report, { until, ...rest }));
  }

  /** Hands over the traces whose settling takes long, or, at the end of the process, all of them. */
  handOver(all = false): void {
    const before = this.#options.clock() - SETTLING_MS_MAX;
    for (const [id, { trace }] of this.#ended) {
      if (!all && trace.endedAt > before) return;
      this.#giveUp(id);
    }
  }

  #giveUp(id: string): void {
    const ended = this.#ended.get(id);
    if (ended === undefined) return;
    this.#ended.delete(id);
    const { trace, report, ...rest } = ended;
    this.#options.onTrace(trace.finish(report, { until: trace.endedAt, ...rest }));
  }

  /** The attributes of the content, which is forgotten. */
  #contentOf({ id, dialect, source: { model } }: WorkOrder): string {
    const { names, contentBytesMax: bytesMax } = this.#options;
    if (bytesMax === undefined) return "";
    this.#decided.delete(id);
    const taken = this.#contents.take(id);
    if (taken === undefined || dialect === undefined) return "";
    return contentMembers(names, messagesOf(taken, { dialect, callId: id, model, bytesMax }));
  }

  #isSampled({ trace }: WorkOrder): boolean {
    const { sample, randomFraction } = this.#options;
    return trace === undefined ? randomFraction() < sample : trace.isSampled;
  }
}
