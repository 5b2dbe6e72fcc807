import type { JsonObject, ModelOperation } from "../core/index.ts";

/** A line of a batch before its upload. */
interface BatchApiLine {
  /** The gateway's own id of the line: at most 64 letters, digits, `_` and `-`. */
  id: string;
  /** The provider's name of the model. */
  model: string;
  /** The path of its operation. */
  path: string;
  /** The body of its request: JSON. */
  body: string;
}

/** A batch before its creation. */
interface NewUpstreamBatch {
  /** The gateway's own name of it, by which it is found again if the answer to its creation is lost. */
  marker: string;
  /** Of all lines, or of the first if they differ. */
  model: string;
  path: string;
  /** The uploaded lines, if the provider takes them as a file; else they are in the request. */
  fileId: string | undefined;
  lines: readonly string[];
}

/** A batch as its provider shows it. */
export interface UpstreamBatch {
  id: string;
  /** Undefined if the provider keeps none. */
  marker: string | undefined;
  /** `refused`: it has ended before its first line, and cost nothing. */
  state: "running" | "ended" | "refused";
  /** Why it was refused. */
  reason: string | undefined;
}

/** The result of one line. */
export interface BatchApiResult {
  /** That of the line. */
  id: string;
  /**
   * Its answer, or its error with the status that the same call would have had. `not-called`: the batch was cancelled, or has expired
   * before.
   */
  outcome: { status: number; body: unknown } | "not-called";
}

/** A request below the provider's base URL. */
export interface BatchApiRequest {
  path: string;
  /** POST with a body, else GET. */
  method?: "POST" | "GET";
  /** JSON. */
  body?: string;
}

/** One source of results: JSON lines, a page of JSON, or the answer to the look-up, which is such a page. */
type BatchResults = { request: BatchApiRequest; format: "lines" | "page" } | { format: "answer" };

/** A page of results or of batches. */
interface BatchApiPage<Item> {
  items: Item[];
  /** The request of the next one; undefined after the last. */
  next: BatchApiRequest | undefined;
}

/** How a provider does batches by itself. Only data and pure functions. */
export interface BatchApi {
  /** The most lines of one batch; the gateway's own slices may be shorter. */
  linesMax: number;
  /** The most bytes of the lines of one batch. */
  bytesMax: number;
  /** Whether all lines of a batch must have one model. */
  needsOneModel: boolean;
  /** The operation whose bodies lines of text have, if it is not the one that a call would use. */
  textOperation?: ModelOperation;
  /** Whether a line may be a request to this path with this model. */
  takes(path: string, model: string): boolean;
  /** One line, as JSON without line ends. */
  lineOf(line: BatchApiLine): string;
  /** The fields of the form that uploads the lines to `/files`; absent if they are in the request of the creation. */
  upload?: Readonly<Record<string, string>>;
  create(batch: NewUpstreamBatch): BatchApiRequest;
  get(id: string): BatchApiRequest;
  cancel(id: string): BatchApiRequest;
  /** The newest first; absent if no batch has a marker. */
  list?: { request: BatchApiRequest; read(page: JsonObject): BatchApiPage<UpstreamBatch> };
  /** Reads the answer to a creation or a look-up; undefined for anything else. */
  read(answer: JsonObject): UpstreamBatch | undefined;
  /** Where the results of an ended batch are. */
  results(answer: JsonObject): readonly BatchResults[];
  /** The results in a page that is not of lines; `request` is the one for it. */
  readPage?(page: JsonObject, request: BatchApiRequest): BatchApiPage<JsonObject>;
  /** Reads one result; undefined if it is none. */
  readResult(result: JsonObject): BatchApiResult | undefined;
  /** Headers of the client that are forwarded with the creation. */
  forwardedHeaders?: readonly string[];
}
