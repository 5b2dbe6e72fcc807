/** One signal's address at a collector of OpenTelemetry: requests in JSON, and the meaning of their answers. */
import { type Fetch, objectOf } from "../../core/index.ts";
import type { Logger } from "../logger.ts";

/**
 * Whether a request is done with, for how many of its items, or may be repeated, and after how many milliseconds at the earliest.
 * https://opentelemetry.io/docs/specs/otlp/#otlphttp-response
 */
export type OtlpAnswer = { kind: "taken"; rejected: number } | { kind: "refused" } | { kind: "again"; afterMs: number };

/** Answers after which the same request may succeed. */
const REPEATABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** An answer is a few counts; of a longer one no more is read. */
const ANSWER_BYTES_MAX = 65_536;

interface OtlpEndpointOptions {
  signal: "traces" | "metrics";
  url: string;
  headers: Readonly<Record<string, string>>;
  /** How long an answer may take. */
  timeoutMs: number;
  fetch: Fetch;
  logger: Pick<Logger, "info" | "warn">;
}

export class OtlpEndpoint {
  readonly #options: OtlpEndpointOptions;
  /** A collector that is away is one line in the log, and one when it is back. */
  #isAway = false;

  constructor(options: OtlpEndpointOptions) {
    this.#options = options;
  }

  /** Sends one request. Never rejects. */
  async post(body: string): Promise<OtlpAnswer> {
    const { url, headers, timeoutMs, fetch } = this.#options;
    let answer: OtlpAnswer;
    let status: number | string;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body,
        signal: AbortSignal.timeout(timeoutMs),
        redirect: "manual",
      });
      ({ status } = response);
      const text = await beginningOf(response);
      if (response.ok) answer = { kind: "taken", rejected: rejectedIn(text) };
      else if (REPEATABLE.has(status)) answer = { kind: "again", afterMs: retryAfterOf(response) };
      else answer = { kind: "refused" };
    } catch (reason) {
      status = codeOf(reason);
      answer = { kind: "again", afterMs: 0 };
    }
    this.#note(answer, status);
    return answer;
  }

  #note({ kind }: OtlpAnswer, status: number | string): void {
    const { signal, logger } = this.#options;
    const isAway = kind !== "taken";
    if (isAway === this.#isAway) return;
    this.#isAway = isAway;
    if (isAway) logger.warn({ signal, status }, "the collector of OpenTelemetry does not take the data");
    else logger.info({ signal }, "the collector of OpenTelemetry takes the data again");
  }
}

/** The first bytes of an answer, as text. The rest is not read. */
async function beginningOf({ body }: Response): Promise<string> {
  if (body === null) return "";
  const bytes: ReadableStream<Uint8Array> = body;
  const reader = bytes.getReader();
  const parts: Uint8Array[] = [];
  let left = ANSWER_BYTES_MAX;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    parts.push(next.value.subarray(0, left));
    left -= next.value.length;
    if (left > 0) continue;
    await reader.cancel();
    break;
  }
  return Buffer.concat(parts).toString();
}

/** The items that a collector has refused of a request that it has taken. */
function rejectedIn(text: string): number {
  try {
    const partial = objectOf(objectOf(JSON.parse(text))?.["partialSuccess"]);
    const count = Number(partial?.["rejectedSpans"] ?? 0);
    return Number.isSafeInteger(count) && count > 0 ? count : 0;
  } catch {
    return 0;
  }
}

function retryAfterOf({ headers }: Response): number {
  const seconds = Number(headers.get("retry-after") ?? 0);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : 0;
}

/** A code, or a name: a message may repeat the address. */
function codeOf(reason: unknown): string {
  if (!(reason instanceof Error)) return "unknown";
  return "code" in reason && typeof reason.code === "string" ? reason.code : reason.name;
}
