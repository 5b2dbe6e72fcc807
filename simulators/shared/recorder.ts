export type Outcome = "answered" | "aborted" | "open";

/** One request that a simulated provider received. */
export interface RecordedRequest {
  readonly provider: string;
  readonly method: string;
  /** Path with its query string. */
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  /** The body as text, at most 64 KiB of it. */
  readonly body: string;
  /** The parts of a form in their order; null for other bodies. */
  readonly parts: readonly RecordedPart[] | null;
  /** `aborted`: the caller went away before the answer was complete. */
  readonly outcome: Outcome;
}

/** One part of a form that a simulated provider received. */
export interface RecordedPart {
  readonly name: string;
  readonly filename: string | null;
  readonly contentType: string | null;
  readonly size: number;
  readonly sha256: string;
  /** The value of a plain field; null for files. */
  readonly text: string | null;
}

/** Ends the record of one request; only the first call counts. */
export type CloseRecord = (outcome: Exclude<Outcome, "open">) => void;

const requestsMax = 2_000;
export const recordedBodyBytesMax = 65_536;

/** Remembers the last requests, in the order of their arrival. */
export class Recorder {
  #requests: { outcome: Outcome; readonly entry: Omit<RecordedRequest, "outcome"> }[] = [];
  #total = 0;

  /** All requests since the start or the last clear, also those no longer kept. */
  get total(): number {
    return this.#total;
  }

  /** The requests still kept, oldest first. */
  get requests(): RecordedRequest[] {
    return this.#requests.map((record) => ({ ...record.entry, outcome: record.outcome }));
  }

  open(entry: Omit<RecordedRequest, "outcome">): CloseRecord {
    const record: { outcome: Outcome; readonly entry: Omit<RecordedRequest, "outcome"> } = { outcome: "open", entry };
    this.#requests.push(record);
    this.#total += 1;
    if (this.#requests.length > requestsMax) this.#requests.shift();
    return (outcome) => {
      if (record.outcome === "open") record.outcome = outcome;
    };
  }

  clear(): void {
    this.#requests = [];
    this.#total = 0;
  }
}
