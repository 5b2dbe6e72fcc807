import {
  type CallFile,
  formatCredits,
  type GatewayError,
  inputTokens,
  loggableId,
  outputTokens,
} from "../../core/index.ts";
import type { CallRecord } from "../../ledger/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { AttemptFailure, AttemptReport, WorkObserver, WorkReport } from "./work-observer.ts";

/**
 * Logs paid work: a line per end, per unpaid cost, and per attempt that failed because of its key or is worth retrying.
 * A refusal of the call itself is part of the line of its end. A refused key has a line a minute, however many calls need it.
 * `now` is in milliseconds of a monotonic clock.
 */
export function logObserver(logger: Logger, now = (): number => performance.now()): WorkObserver {
  /** The time of the last line of each refused key. */
  const refusals = new Map<string, number>();
  const isRecent = ({ provider, keyId }: AttemptReport): boolean => {
    const [key, at] = [`${provider} ${keyId}`, now()];
    const isNew = at - (refusals.get(key) ?? Number.NEGATIVE_INFINITY) >= REFUSED_KEY_MS;
    if (isNew) refusals.set(key, at);
    return !isNew;
  };
  return {
    attempted(attempt) {
      const { failure, status } = attempt;
      if (failure === undefined || QUIET.has(failure)) return;
      if (failure === "key_refused" && isRecent(attempt)) return;
      if (OPERATORS.has(failure) || status === 403)
        logger.error(attemptLine(attempt), "the provider refuses the key or its permission");
      else logger.warn(attemptLine(attempt), "attempt failed");
    },
    ended: (report) => logger.info(endLine(report), "call"),
    committed({ id, shortfall }) {
      if (shortfall > 0n)
        logger.warn({ request_id: id, credits: formatCredits(shortfall) }, "charged less than it cost");
    },
  };
}

function attemptLine(report: AttemptReport) {
  const { workId, provider, keyId, attempt, status, failure, milliseconds, retryInMs, unbilled, upstreamRequestId } =
    report;
  return {
    request_id: workId,
    provider,
    key_id: keyId,
    attempt,
    status,
    failure,
    upstream_request_id: loggableId(upstreamRequestId),
    ms: rounded(milliseconds),
    retry_in_ms: retryInMs === undefined ? undefined : rounded(retryInMs),
    unbilled,
  };
}

/** The log line of a piece of work. Counts and names only, never prompts or answers. */
function endLine({ order, record, credits, unbilled, files, error }: WorkReport) {
  const { id, parent, principal, source, clientRequestId } = order;
  const { usage, milliseconds, millisecondsToFirstByte } = record;
  return {
    request_id: id,
    client_request_id: clientRequestId,
    parent_id: parent,
    user: record.owner,
    token_id: principal.tokenId,
    model: source.modelId,
    provider: record.provider,
    streamed: record.streamed,
    status: record.status,
    outcome: record.outcome,
    class: classOf(record, error),
    upstream_request_id: loggableId(record.upstreamRequestId),
    input_tokens: inputTokens(usage),
    output_tokens: outputTokens(usage),
    credits,
    unbilled,
    files: files?.slice(0, FILES_MAX).map(fileSummary),
    files_left_out: files !== undefined && files.length > FILES_MAX ? files.length - FILES_MAX : undefined,
    ms: rounded(milliseconds),
    first_byte_ms: millisecondsToFirstByte === undefined ? undefined : rounded(millisecondsToFirstByte),
    error: error?.code,
    cause: error === undefined ? undefined : causeOf(error),
  };
}

/** The class of the failure, of the last attempt if that has failed; undefined for a call that was answered, or that its client or provider ended. */
function classOf({ outcome, attempts }: CallRecord, error: GatewayError | undefined): string | undefined {
  const isOurs = error?.fault === "gateway";
  if (outcome === "failed") return attempts?.at(-1)?.class ?? (isOurs ? "gateway" : "request");
  return outcome === "interrupted" && isOurs ? "gateway" : undefined;
}

/** Failures caused by the call or its client. The line of the call's end suffices for them. */
const QUIET: ReadonlySet<AttemptFailure> = new Set(["request", "context_window", "content_policy", "abandoned"]);

/** The time between two lines about one refused key, in milliseconds. */
const REFUSED_KEY_MS = 60_000;

/** Nobody but the operator can replace a key, or pay for it. */
const OPERATORS: ReadonlySet<AttemptFailure> = new Set(["key_refused", "quota_gone"]);

/**
 * The number of files in a line, and of characters of a client's file names: a form may have a thousand files with long
 * names.
 */
const FILES_MAX = 20;
const NAME_CHARACTERS_MAX = 200;

/** A file's name, type and size; never its content. */
function fileSummary({ field, filename, contentType, size, milliseconds }: CallFile): object {
  const [name, called, type] = [field, filename, contentType].map((text) => text?.slice(0, NAME_CHARACTERS_MAX));
  return { field: name, name: called, type, bytes: size, sound_ms: milliseconds };
}

/** The name of the underlying error. Its message could repeat text of a caller or an upstream. */
function causeOf(error: GatewayError): string | undefined {
  const { cause } = error;
  if (!(cause instanceof Error)) return undefined;
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
  return code ?? cause.name;
}

const rounded = (milliseconds: number): number => Math.round(milliseconds * 10) / 10;
