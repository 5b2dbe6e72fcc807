import type { ParkedWork } from "../charges/index.ts";
import type { JsonObject } from "../core/index.ts";
import type { NewJob } from "../jobs/index.ts";

/** What a file is for, in OpenAI's words; `message_batch` holds the requests of a batch of Messages, which names no file. */
export type FilePurpose = "batch" | "batch_output" | "message_batch";

/** A file that the gateway keeps for a user. */
export interface KeptFile {
  id: string;
  /** The user. */
  owner: string;
  purpose: FilePurpose;
  filename: string;
  /** Of all its parts. */
  bytes: number;
  /** Their number. */
  parts: number;
  /** Whether its owner sees it: it is whole, and no part of a batch that has none. */
  isListed: boolean;
  createdAt: number;
  keptUntil: number;
}

/** A page of a user's files, from the newest, or the oldest if it is ascending. */
export interface FilePage {
  owner: string;
  purpose: string | undefined;
  isAscending: boolean;
  after: Pick<KeptFile, "id" | "createdAt"> | undefined;
  limit: number;
}

/** The storage of kept files on either engine. Each write is one durable commit, besides removals. */
export interface KeptFileStore {
  /** Resolves with false, and does nothing, if the owner's files would have more bytes than this with `bytes` more. */
  begin(file: KeptFile, room: { bytes: number; bytesMax: number }): Promise<boolean>;
  /** Appends the next part of a file that is not whole yet. */
  append(id: string, number: number, content: Uint8Array): Promise<void>;
  /** The file is whole. Resolves with false if it is gone. */
  finish(file: Pick<KeptFile, "id" | "bytes" | "parts" | "keptUntil" | "isListed">): Promise<boolean>;
  find(id: string, at: number): Promise<KeptFile | undefined>;
  /** The content of one part; undefined if there is none. */
  part(id: string, number: number): Promise<Uint8Array | undefined>;
  list(page: FilePage, at: number): Promise<KeptFile[]>;
  /** Removes it, unless a batch that has not ended reads it: then resolves with false. */
  removeUnlessInput(id: string): Promise<boolean>;
  /** Nobody finds the file any more at once; its content is deleted in several commits. */
  remove(id: string): Promise<void>;
  /** Deletes files that are not kept any longer and no input of a batch that has not ended, a bounded number at a time. */
  deleteExpired(at: number): Promise<void>;
}

/** `calls` of one route, as OpenAI has them; or `messages`, as Anthropic has them. */
export type BatchKind = "calls" | "messages";

/** In OpenAI's words. */
type BatchStatus =
  | "validating"
  | "failed"
  | "in_progress"
  | "finalizing"
  | "completed"
  | "expired"
  | "cancelling"
  | "cancelled";

/** An error of the input, which makes the whole batch fail. */
export interface InputError {
  code: string;
  message: string;
  param: string | null;
  /** From 1; null for an error of the whole file. */
  line: number | null;
}

/** Tokens of all lines that have ended well. */
export interface BatchUsage {
  input: number;
  cached: number;
  output: number;
  reasoning: number;
}

/** Ended lines, by their end. */
export interface LineCounts {
  succeeded: number;
  failed: number;
  cancelled: number;
  expired: number;
}

export interface StoredBatch extends LineCounts {
  id: string;
  /** The user. */
  owner: string;
  tokenId: string;
  kind: BatchKind;
  /** The path of the route that its lines are calls of. */
  endpoint: string;
  inputFileId: string;
  outputFileId: string;
  errorFileId: string;
  /** Of the request that created it: those that name its calls. */
  headers: Readonly<Record<string, string>>;
  metadata: JsonObject | undefined;
  errors: readonly InputError[] | undefined;
  usage: BatchUsage;
  completionWindow: string;
  webhookUrl: string | undefined;
  /** The model of all lines, if it is one. */
  model: string | undefined;
  status: BatchStatus;
  /** The prefix of the provider to whose own batches its lines go; undefined if they are called one by one. */
  nativeProvider: string | undefined;
  /** All lines before this position have gone there, or cannot. */
  nativeNext: number;
  /** Of the run that may write its results. */
  runToken: string;
  /** Lines. */
  total: number;
  createdAt: number;
  startedAt: number | undefined;
  cancellingAt: number | undefined;
  finalizingAt: number | undefined;
  endedAt: number | undefined;
  expiresAt: number;
  /** All times are in milliseconds since the epoch. */
  keptUntil: number;
}

/** Results of some lines: a part of the output file or of the error file. */
export interface ResultPart {
  fileId: string;
  content: Uint8Array;
  /** The positions of the lines in the batch, from 0. */
  lines: readonly number[];
}

export interface ResultWrite {
  parts: readonly ResultPart[];
  /** Of these lines alone. */
  counts: LineCounts;
  /** Of all lines so far. */
  usage: BatchUsage;
}

export interface BatchPage {
  owner: string;
  kind: BatchKind;
  /** The batch before the page: older ones follow, or newer ones if it is `before`. */
  after?: Pick<StoredBatch, "id" | "createdAt"> | undefined;
  before?: Pick<StoredBatch, "id" | "createdAt"> | undefined;
  limit: number;
}

/** The end of a batch. */
export interface BatchEnd {
  status: BatchStatus;
  errors?: readonly InputError[] | undefined;
  endedAt: number;
  keptUntil: number;
}

/** A run of a batch, which may write to it until another one has taken it. */
export type RunOfBatch = Pick<StoredBatch, "id" | "runToken">;

/** A page of batches by id, which begins with the time. */
export interface DirectoryPage {
  /** Undefined: of all users. */
  owner: string | undefined;
  /** The id of the last one of the page before; undefined of the first page. */
  after: string | undefined;
  isNewestFirst: boolean;
  limit: number;
}

/** The storage of batches on either engine. Each write is one durable commit. */
export interface BatchStore {
  /**
   * Stores the batch, the empty files of its results, and its job. Stores nothing if the owner has this many batches that have not
   * ended (`too many`), or if its input was deleted meanwhile (`no input`).
   */
  insert(batch: StoredBatch, job: NewJob, openMax: number): Promise<"stored" | "too many" | "no input">;
  find(id: string, at: number): Promise<StoredBatch | undefined>;
  /** From the newest. */
  list(page: BatchPage, at: number): Promise<StoredBatch[]>;
  /** Those of all users or of one: for the operator. */
  all(page: DirectoryPage): Promise<StoredBatch[]>;
  /** Gives the batch to a run: no earlier one can write to it from then on. */
  take(id: string, runToken: string): Promise<StoredBatch | undefined>;
  /** The batch as it is, if this run may still write to it. */
  look(run: RunOfBatch): Promise<StoredBatch | undefined>;
  /** The lines begin. Resolves with false if the run may not write. */
  start(
    run: RunOfBatch,
    checked: { total: number; model: string | undefined; nativeProvider: string | undefined; at: number },
  ): Promise<boolean>;
  /** Stores results and adds them up. Resolves with false, and stores nothing, if the run may not write. */
  write(run: RunOfBatch, results: ResultWrite): Promise<boolean>;
  /** The positions of all lines that have results. */
  ended(batch: Pick<StoredBatch, "id" | "outputFileId" | "errorFileId">): Promise<number[]>;
  /** Resolves with false if it has ended, or is ending by now. */
  cancel(id: string, at: number): Promise<boolean>;
  /** No line is begun any more. */
  finalize(run: RunOfBatch, at: number): Promise<boolean>;
  /** Ends the batch, and shows its files. Resolves with false if the run may not write. */
  finish(batch: StoredBatch, end: BatchEnd): Promise<boolean>;
  /** Removes a batch; one of Messages with its files. */
  remove(batch: StoredBatch): Promise<void>;
  /** Deletes batches that are not kept any longer, a bounded number at a time. */
  deleteExpired(at: number): Promise<void>;
}

/** `filling`: its provider knows nothing of it. `sending`: it may. `running`: it has answered. */
type SliceState = "filling" | "sending" | "running";

/** A part of a batch that its provider runs as a batch of its own. */
export interface BatchSlice {
  /** Random: the provider's batch is found by it. */
  id: string;
  batchId: string;
  state: SliceState;
  /** The provider's prefix. */
  provider: string;
  /** The provider's name of the model: of all lines, or of the first. */
  model: string;
  /** The path of the operation, likewise. */
  path: string;
  /** The key that knows the provider's batch. */
  keyId: string | undefined;
  upstreamId: string | undefined;
  isCancelled: boolean;
  /** Look-ups so far. */
  asks: number;
  /** The next look-up, in milliseconds since the epoch. */
  askAt: number;
}

/** A line of a slice, whose hold the slice keeps. */
export interface SliceLine {
  position: number;
  work: ParkedWork;
}

/** The storage of slices. Each write is one durable commit, and resolves with false, without a change, if the run may not write. */
export interface SliceStore {
  of(batchId: string): Promise<BatchSlice[]>;
  /** The positions of all lines of the batch that a slice holds. */
  positions(batchId: string): Promise<number[]>;
  lines(sliceId: string, batchId: string): Promise<SliceLine[]>;
  /** Adds lines to a slice, which is stored with the first ones. Every line before `next` is dealt with from then on. */
  hold(run: RunOfBatch, slice: BatchSlice, held: { lines: readonly SliceLine[]; next: number }): Promise<boolean>;
  change(run: RunOfBatch, slice: BatchSlice): Promise<boolean>;
  /** Removes it with its lines. Those from `again` on are dealt with again, if they have no result. */
  remove(run: RunOfBatch, slice: Pick<BatchSlice, "id" | "batchId">, again: number | undefined): Promise<boolean>;
  /** The lines that no slice holds are called one by one from then on. */
  stop(run: RunOfBatch): Promise<boolean>;
}
