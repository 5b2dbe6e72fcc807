/**
 * The spans of one piece of paid work in OTLP's JSON:
 *
 *   server span: from its arrival until its end is durable
 *   ├── hold: until the credits were held
 *   ├── one client span for each request to an upstream, with the GenAI attributes
 *   └── settle: from its end until that is durable
 */
import type { AttemptReport, WorkOrder, WorkReport } from "../charges/index.ts";
import { type GatewayError, inputTokens, loggableId, outputTokens } from "../core/index.ts";
import { attribute, nanoseconds, quoted } from "../telemetry/index.ts";
import { genAiOperation, type GenAiNames } from "./genai-names.ts";
import type { ContentMessages } from "./messages.ts";

/** `SPAN_KIND_…` of the protocol. */
const INTERNAL = 1;
const SERVER = 2;
const CLIENT = 3;

/** Of span flags: the caller's decision, that it is known whether the parent is remote, and that it is. */
const SAMPLED = 0x01;
const HAS_IS_REMOTE = 0x100;
const IS_REMOTE = 0x200;

/** `STATUS_CODE_ERROR`. */
const FAILED = `,"status":{"code":2}`;

const TRACE_BYTES = 16;
const SPAN_BYTES = 8;
const HEX = 2;

export interface SpanSettings {
  names: GenAiNames;
  /** The name of a provider's API, by its prefix. */
  apiOf: (prefix: string) => string;
  randomBytes: (size: number) => Uint8Array;
}

/** Finished spans as members of a list. */
export interface WrittenSpans {
  json: string;
  count: number;
}

/** The times of a trace, in milliseconds since the epoch. */
interface TraceTimes {
  arrivedAt: number;
  endedAt: number;
}

/** A trace whose work has ended, and whose end may not be durable yet. */
export class WorkTrace {
  readonly endedAt: number;
  readonly #settings: SpanSettings;
  readonly #traceId: string;
  /** Those of the spans, one after the other; the first is that of the server span. */
  readonly #ids: string;
  #taken = 0;
  readonly #serverId: string;
  readonly #order: WorkOrder;
  readonly #arrivedAt: number;
  #json = "";
  #count = 0;

  /** For `spans` spans at most. */
  constructor(settings: SpanSettings, order: WorkOrder, { arrivedAt, endedAt }: TraceTimes, spans: number) {
    const { trace } = order;
    const ids = settings.randomBytes(TRACE_BYTES + SPAN_BYTES * spans).toHex();
    this.#settings = settings;
    this.#order = order;
    this.#arrivedAt = arrivedAt;
    this.endedAt = endedAt;
    this.#traceId = trace?.traceId ?? ids.slice(0, TRACE_BYTES * HEX);
    this.#ids = ids.slice(TRACE_BYTES * HEX);
    this.#serverId = this.#nextId();
  }

  /** The hold, which began with the order. */
  hold(until: number, error?: string): void {
    const from = Math.min(Math.max(this.#order.at, this.#arrivedAt), until);
    this.#child("hold", INTERNAL, {
      from,
      until,
      attributes: error === undefined ? "" : member("error.type", error),
      failed: error !== undefined,
    });
  }

  /** A request to an upstream. The one that gave the answer goes on until the work ends, and has its usage. */
  attempt(attempt: AttemptReport, from: number, answered: WorkReport | undefined, content = ""): void {
    const { provider, model = this.#order.source.model, keyId, failure, status } = attempt;
    const { names, apiOf } = this.#settings;
    const operation = genAiOperation(this.#order.operation);
    const api = apiOf(provider);
    const attributes =
      member(names.operation, operation) +
      member(names.provider, names.providers[api] ?? api) +
      member(names.requestModel, model) +
      member("tollgate.provider", provider) +
      member("tollgate.key_id", keyId) +
      member("tollgate.attempt", attempt.attempt) +
      member("http.response.status_code", status) +
      member("error.type", failure) +
      (answered === undefined ? "" : usageMembers(names, answered, from - this.#arrivedAt)) +
      content;
    const until = answered === undefined ? from + attempt.milliseconds : this.endedAt;
    this.#child(`${operation} ${model}`, CLIENT, { from, until, attributes, failed: failure !== undefined });
  }

  /** The settling of the work, once its end is durable. */
  settle(until: number): void {
    this.#child("settle", INTERNAL, { from: this.endedAt, until, attributes: "", failed: false });
  }

  /** The server span of work that was done, and with it the whole trace. */
  finish(report: WorkReport, { until, hasUsage, content = "" }: WorkFinish): WrittenSpans {
    const { record, credits, error } = report;
    const { source, operation } = this.#order;
    const attributes =
      this.#ownMembers(record.status) +
      member("tollgate.outcome", record.outcome) +
      member("tollgate.credits", Number(credits)) +
      member("tollgate.requested_model", source.modelId) +
      member("tollgate.route", record.route) +
      member("tollgate.upstream_request_id", loggableId(record.upstreamRequestId)) +
      member("error.type", error?.code) +
      (hasUsage ? "" : usageMembers(this.#settings.names, report, 0)) +
      content;
    return this.#whole(operation, { until, attributes, failed: record.outcome === "failed" });
  }

  /** The server span of work that the ledger refused to begin. */
  refuse({ code, status }: GatewayError): WrittenSpans {
    const attributes = this.#ownMembers(status) + member("error.type", code);
    return this.#whole(this.#order.operation, { until: this.endedAt, attributes, failed: true });
  }

  #ownMembers(status: number): string {
    const { id, parent, principal, operation, dialect, session } = this.#order;
    return (
      member("tollgate.request_id", id) +
      member("tollgate.operation", operation) +
      member("user.id", principal.user) +
      member("tollgate.token_id", principal.tokenId) +
      member("tollgate.dialect", dialect) +
      member("tollgate.parent_id", parent) +
      member(this.#settings.names.conversation, session) +
      member("session.id", session) +
      member("http.response.status_code", status)
    );
  }

  #whole(name: string, end: SpanEnd): WrittenSpans {
    const { trace } = this.#order;
    const flags = SAMPLED | HAS_IS_REMOTE | (trace === undefined ? 0 : IS_REMOTE);
    const parent = trace === undefined ? "" : `,"parentSpanId":"${trace.spanId}"`;
    this.#span({ id: this.#serverId, parent, flags }, name, SERVER, { from: this.#arrivedAt, ...end });
    return { json: this.#json, count: this.#count };
  }

  #child(name: string, kind: number, span: SpanBody): void {
    const parent = `,"parentSpanId":"${this.#serverId}"`;
    this.#span({ id: this.#nextId(), parent, flags: SAMPLED | HAS_IS_REMOTE }, name, kind, span);
  }

  #span(at: { id: string; parent: string; flags: number }, name: string, kind: number, body: SpanBody): void {
    const { from, until, attributes, failed } = body;
    const state = this.#order.trace?.state;
    const ids = `"traceId":"${this.#traceId}","spanId":"${at.id}"${at.parent},"flags":${at.flags}`;
    const stated = state === undefined ? "" : `,"traceState":${quoted(state)}`;
    const times = `"startTimeUnixNano":"${nanoseconds(from)}","endTimeUnixNano":"${nanoseconds(Math.max(from, until))}"`;
    const written = `{${ids}${stated},"name":${quoted(name)},"kind":${kind},${times},"attributes":[${attributes.slice(1)}]${failed ? FAILED : ""}}`;
    this.#json = this.#count === 0 ? written : `${this.#json},${written}`;
    this.#count += 1;
  }

  #nextId(): string {
    const from = this.#taken * SPAN_BYTES * HEX;
    this.#taken += 1;
    return this.#ids.slice(from, from + SPAN_BYTES * HEX);
  }
}

interface WorkFinish {
  until: number;
  /** Whether a request to an upstream has the usage. */
  hasUsage: boolean;
  /** The content, unless a request to an upstream has it: members as in `SpanEnd`. */
  content?: string;
}

interface SpanEnd {
  until: number;
  /** As members of a list, each with a comma before it. */
  attributes: string;
  failed: boolean;
}

interface SpanBody extends SpanEnd {
  from: number;
}

/** An attribute with a comma before it; nothing for one without a value. */
function member(key: string | undefined, value: string | number | boolean | undefined): string {
  return key === undefined || value === undefined ? "" : `,${attribute(key, value)}`;
}

/** The content of a call as attributes, as far as the names have them. */
export function contentMembers(names: GenAiNames, { system, input, output, isCut }: ContentMessages): string {
  if (names.inputMessages === undefined) return "";
  return (
    member(names.systemInstructions, system) +
    member(names.inputMessages, input) +
    member(names.outputMessages, output) +
    (isCut ? member("tollgate.content_cut", true) : "")
  );
}

/** A count of tokens, if there are some. */
function counted(key: string | undefined, tokens = 0): string {
  return tokens === 0 ? "" : member(key, tokens);
}

/** `sentMs`: from the work's arrival until the request that was answered. */
function usageMembers(names: GenAiNames, { record, credits }: WorkReport, sentMs: number): string {
  const { usage, streamed, millisecondsToFirstByte: firstMs, maxOutputTokens } = record;
  const { cacheRead = 0, cacheAudioRead = 0, cacheImageRead = 0, cacheWrite5m = 0, cacheWrite1h = 0 } = usage;
  const tokens =
    counted(names.inputTokens, inputTokens(usage)) +
    counted(names.outputTokens, outputTokens(usage)) +
    counted(names.cacheRead, cacheRead + cacheAudioRead + cacheImageRead) +
    counted(names.cacheWrite, cacheWrite5m + cacheWrite1h) +
    counted(names.reasoning, usage.reasoning) +
    counted(names.maxTokens, maxOutputTokens) +
    member(names.cost, Number(credits));
  if (!streamed) return tokens;
  const firstSeconds = firstMs === undefined ? undefined : Math.max(0, firstMs - sentMs) / 1_000;
  return tokens + member(names.stream, true) + member(names.firstChunkSeconds, firstSeconds);
}
