/** How one answer is to be spoiled. Absent directives are false, 0 or null. */
export interface Faults {
  /** Answer with this HTTP status in the provider's own error body. */
  readonly status: number | null;
  readonly retryAfterSeconds: number | null;
  /** Fault only this many requests with the same model string. */
  readonly times: number | null;
  /** Fault only requests that carry this API key. */
  readonly key: string | null;
  readonly connectReset: boolean;
  readonly slowMs: number;
  readonly paceMs: number;
  readonly stallAfter: number | null;
  readonly cutAfter: number | null;
  readonly errorAfter: number | null;
  readonly malformed: boolean;
  readonly hugeMebibytes: number;
  readonly noUsage: boolean;
  readonly truncate: boolean;
  readonly html502: boolean;
  readonly empty: boolean;
  readonly gzip: boolean;
  readonly splitBytes: number;
  readonly crlf: boolean;
  /** HTTP 200 with the provider's error as its JSON body (`error-200`). */
  readonly errorInOk: boolean;
  /** The generation fails in the way that the dialect has for it. */
  readonly failed: boolean;
}

/** An answer that nothing spoils. */
export const noFaults: Faults = Object.freeze({
  status: null,
  retryAfterSeconds: null,
  times: null,
  key: null,
  connectReset: false,
  slowMs: 0,
  paceMs: 0,
  stallAfter: null,
  cutAfter: null,
  errorAfter: null,
  malformed: false,
  hugeMebibytes: 0,
  noUsage: false,
  truncate: false,
  html502: false,
  empty: false,
  gzip: false,
  splitBytes: 0,
  crlf: false,
  errorInOk: false,
  failed: false,
});

/** A fault specification that cannot be read; the message names the directive. */
export class FaultSpecError extends Error {}

const flags = new Map<string, Partial<Faults>>(
  Object.entries({
    "connect-reset": { connectReset: true },
    malformed: { malformed: true },
    "no-usage": { noUsage: true },
    truncate: { truncate: true },
    "html-502": { html502: true },
    empty: { empty: true },
    gzip: { gzip: true },
    crlf: { crlf: true },
    "error-200": { errorInOk: true },
    failed: { failed: true },
  }),
);

interface NumberedDirective {
  readonly field: keyof Faults;
  readonly min: number;
  readonly max: number;
}

const waitMsMax = 3_600_000;
const eventsMax = 10_000_000;

const numbered = new Map<string, NumberedDirective>(
  Object.entries({
    status: { field: "status", min: 400, max: 599 },
    "retry-after": { field: "retryAfterSeconds", min: 0, max: 86_400 },
    times: { field: "times", min: 1, max: 1_000_000 },
    slow: { field: "slowMs", min: 0, max: waitMsMax },
    pace: { field: "paceMs", min: 0, max: waitMsMax },
    stall: { field: "stallAfter", min: 0, max: eventsMax },
    cut: { field: "cutAfter", min: 0, max: eventsMax },
    error: { field: "errorAfter", min: 0, max: eventsMax },
    huge: { field: "hugeMebibytes", min: 1, max: 256 },
    split: { field: "splitBytes", min: 1, max: 1_048_576 },
  }),
);

/**
 * Reads a specification such as `status-429+retry-after-1+times-2`. @throws FaultSpecError for an unknown directive or
 * a number out of range: a mistyped directive must not let a test pass without its fault.
 */
export function parseFaults(spec: string): Faults {
  const faults = { ...noFaults };
  for (const directive of spec.split("+")) Object.assign(faults, parseDirective(directive));
  return faults;
}

function parseDirective(directive: string): Partial<Faults> {
  const flag = flags.get(directive);
  if (flag !== undefined) return flag;
  if (directive.startsWith("key-") && directive.length > 4) return { key: directive.slice(4) };
  const match = /^([a-z-]+)-(\d+)$/.exec(directive);
  const rule = numbered.get(match?.[1] ?? "");
  const value = Number(match?.[2]);
  if (rule === undefined || value < rule.min || value > rule.max) {
    throw new FaultSpecError(`the simulator has no fault directive "${directive}"`);
  }
  return { [rule.field]: value };
}

/** A model name and the fault specification written behind it, if any (`MODEL+SPEC`). */
export function splitModel(model: string): { readonly model: string; readonly spec: string | null } {
  const plus = model.indexOf("+");
  if (plus < 0) return { model, spec: null };
  return { model: model.slice(0, plus), spec: model.slice(plus + 1) };
}

/** Decides which requests are faulted; holds the counters of `times-K`. */
export class FaultBook {
  readonly #used = new Map<string, number>();

  /** The faults of one request. `subject` owns the counter of `times-K`. */
  take(spec: string | null, subject: string, apiKey: string | null): Faults {
    if (spec === null) return noFaults;
    const faults = parseFaults(spec);
    if (faults.key !== null && faults.key !== apiKey) return noFaults;
    if (faults.times === null) return faults;
    const used = (this.#used.get(subject) ?? 0) + 1;
    this.#used.set(subject, used);
    return used <= faults.times ? faults : noFaults;
  }

  reset(): void {
    this.#used.clear();
  }
}
