/** Batches: many calls in one request, which are made in a job and cost like any calls. */
import type { Principal } from "../auth/index.ts";
import { refuseChargeMax } from "../charges/index.ts";
import {
  GatewayError,
  isBatchId,
  type JsonObject,
  limits,
  namingHeaders,
  type QueueLoad,
  tooManyWaiting,
} from "../core/index.ts";
import type { JobHandler } from "../jobs/index.ts";
import { batchObject, messageBatchObject } from "./batch-object.ts";
import { newBatchId, newFileId } from "./batch-ids.ts";
import { BATCH_JOB, type BatchDependencies } from "./dependencies.ts";
import { contentOf, KeptFiles } from "./files/kept-files.ts";
import { noUsage } from "./line-result.ts";
import { batchHandler } from "./run-batch.ts";
import type { BatchPage, BatchKind, KeptFile, StoredBatch } from "./store.ts";
import { writeFile } from "./files/write-file.ts";

const HOUR_MS = 3_600_000;

/** How long a batch of Messages may take. */
const MESSAGES_HOURS = 24;

/** A batch that has not ended is kept this long beyond its expiry. */
const OVERDUE_MS = 7 * 24 * HOUR_MS;

/** The headers of a request that its calls have too, besides those that name them. */
const CARRIED = ["anthropic-version", "anthropic-beta", "x-tollgate-fallback"];

const MESSAGES = "/v1/messages";

const NEWLINE = 0x0a;
const SPACE = 0x20;

interface Request {
  requestId: string;
  principal: Principal;
  headers: Headers;
}

interface BatchRequest {
  input_file_id: string;
  endpoint: string;
  /** Hours, as `24h`. */
  completion_window: string;
  metadata?: JsonObject | null | undefined;
  webhook_url?: string | undefined;
}

/** A request of a batch of Messages: a valid JSON object. */
export interface MessageRequest {
  customId: string;
  bytes: Buffer;
}

interface MessageBatchRequest {
  requests: readonly MessageRequest[];
  webhook_url?: string | undefined;
}

interface PageQuery {
  after?: string | undefined;
  before?: string | undefined;
  limit: number;
}

export class Batches {
  readonly files: KeptFiles;
  readonly #deps: BatchDependencies;

  constructor(deps: BatchDependencies) {
    this.#deps = deps;
    this.files = new KeptFiles(deps);
  }

  /** Of the queue of lines. */
  get load(): QueueLoad {
    return this.#deps.turns.load;
  }

  get handler(): JobHandler {
    return batchHandler(this.#deps);
  }

  /** Begins a batch of the lines of an own file. Rejects with 402, 404, 422 and 429. */
  async create(request: Request, body: BatchRequest): Promise<JsonObject> {
    refuseChargeMax(request.headers, "the lines of a batch");
    await this.#admit(request, true);
    const { principal } = request;
    const { endpoint, completion_window: completionWindow, input_file_id: id, webhook_url: webhookUrl } = body;
    if (!this.#deps.endpoints.has(endpoint) || endpoint === MESSAGES) {
      const known = [...this.#deps.endpoints.keys()].filter((path) => path !== MESSAGES).join(", ");
      throw invalid("endpoint", `batches are made of calls of ${known}`);
    }
    await this.#checkWebhook(principal, webhookUrl);
    const file = await this.files.find(principal, id, "input_file_id");
    if (file.purpose !== "batch") throw invalid("input_file_id", "the file's purpose is not batch");
    const hours = Number.parseInt(completionWindow, 10);
    const given = { kind: "calls" as const, endpoint, webhookUrl, completionWindow, hours };
    return batchObject(await this.#begin(request, file, { ...given, metadata: body.metadata ?? undefined }));
  }

  /** Begins a batch of Messages. Rejects with 402, 403, 422 and 429. */
  async createOfMessages(request: Request, body: MessageBatchRequest): Promise<JsonObject> {
    refuseChargeMax(request.headers, "the lines of a batch");
    await this.#admit(request, true);
    const { requests, webhook_url: webhookUrl } = body;
    const { bounds, environment } = this.#deps;
    const { user: owner } = request.principal;
    if (requests.length > bounds.linesMax) throw invalid("requests", `a batch has at most ${bounds.linesMax} requests`);
    requireUniqueIds(requests);
    await this.#checkWebhook(request.principal, webhookUrl);
    const lines = requests.map(({ bytes }) => lineOf(bytes));
    const tooLong = lines.findIndex(({ length }) => length > bounds.lineBytesMax);
    if (tooLong !== -1) throw invalid(`requests.${tooLong}`, `a request has at most ${bounds.lineBytesMax} bytes`);
    const size = lines.reduce((sum, { length }) => sum + length, 0);
    const keptUntil = environment.clock() + MESSAGES_HOURS * HOUR_MS + OVERDUE_MS + bounds.keepMs;
    const input = { owner, purpose: "message_batch" as const, filename: "requests.jsonl", size, keptUntil };
    const file = await writeFile(this.#deps, { ...input, isListed: false }, eachOf(lines));
    const given = { kind: "messages" as const, endpoint: MESSAGES, webhookUrl, metadata: undefined };
    const batch = await this.#begin(request, file, { ...given, hours: MESSAGES_HOURS, completionWindow: "24h" });
    return messageBatchObject({ ...batch, total: requests.length }, this.#deps.publicUrl);
  }

  async #begin(
    { principal, headers }: Request,
    { id: inputFileId }: KeptFile,
    given: Pick<StoredBatch, "kind" | "endpoint" | "webhookUrl" | "completionWindow" | "metadata"> & {
      hours: number;
    },
  ): Promise<StoredBatch> {
    const { batches, wake, environment, logger } = this.#deps;
    const { clock, randomBytes } = environment;
    const createdAt = clock();
    const owner = principal.user;
    const { hours, ...asked } = given;
    // Nobody knows whether the rights of a signed token outlive it.
    const expiresAt = Math.min(createdAt + hours * HOUR_MS, principal.signedUntil ?? Number.POSITIVE_INFINITY);
    const batch: StoredBatch = {
      ...asked,
      id: newBatchId(given.kind, clock, randomBytes),
      owner,
      tokenId: principal.tokenId,
      inputFileId,
      outputFileId: newFileId(clock, randomBytes),
      errorFileId: newFileId(clock, randomBytes),
      headers: { ...namingHeaders(headers), ...carried(headers) },
      errors: undefined,
      usage: { ...noUsage },
      model: undefined,
      status: "validating",
      nativeProvider: undefined,
      nativeNext: 0,
      runToken: "",
      total: 0,
      succeeded: 0,
      failed: 0,
      cancelled: 0,
      expired: 0,
      createdAt,
      startedAt: undefined,
      cancellingAt: undefined,
      finalizingAt: undefined,
      endedAt: undefined,
      expiresAt,
      keptUntil: expiresAt + OVERDUE_MS + this.#deps.bounds.keepMs,
    };
    const job = { id: batch.id, kind: BATCH_JOB, owner, payload: {}, runAt: createdAt, createdAt };
    const inserted = await batches.insert(batch, job, limits.openBatchesPerUserMax);
    if (inserted === "too many") throw tooManyWaiting("batches");
    if (inserted === "no input") {
      throw new GatewayError("object_not_found", "The input file was deleted.", { param: "input_file_id" });
    }
    wake(BATCH_JOB);
    logger.info(
      { batch: batch.id, user: owner, token_id: principal.tokenId, endpoint: batch.endpoint },
      "batch created",
    );
    return batch;
  }

  /** The caller's batch. Rejects with 404. */
  async get(request: Request, kind: BatchKind, id: string): Promise<JsonObject> {
    await this.#admit(request);
    return this.#shown(await this.#find(request.principal, kind, id));
  }

  /** The caller's batches from the newest, and whether there are more. */
  async list(
    request: Request,
    kind: BatchKind,
    { after, before, limit }: PageQuery,
  ): Promise<{ data: JsonObject[]; hasMore: boolean }> {
    await this.#admit(request);
    const { principal } = request;
    const page: BatchPage = { owner: principal.user, kind, limit: limit + 1 };
    if (after !== undefined) page.after = await this.#find(principal, kind, after);
    if (before !== undefined) page.before = await this.#find(principal, kind, before);
    const found = await this.#deps.batches.list(page, this.#deps.environment.clock());
    // Of newer ones, those nearest to the batch that is named.
    const shown = before === undefined ? found.slice(0, limit) : found.slice(-limit);
    return { data: shown.map((batch) => this.#shown(batch)), hasMore: found.length > limit };
  }

  /** No more lines are called. Rejects with 404, and with 409 for an ended batch of OpenAI's. */
  async cancel(request: Request, kind: BatchKind, id: string): Promise<JsonObject> {
    await this.#admit(request);
    const { batches, environment, wake } = this.#deps;
    const batch = await this.#find(request.principal, kind, id);
    const isCancelled = await batches.cancel(id, environment.clock());
    wake(BATCH_JOB);
    const now = await this.#find(request.principal, kind, id);
    if (!isCancelled && now.endedAt !== undefined && batch.kind === "calls") {
      throw new GatewayError("batch_ended", `The batch has ended: it is ${now.status}.`);
    }
    return this.#shown(now);
  }

  /** The results of an ended batch of Messages. Rejects with 404 before its end. */
  async results(request: Request, id: string): Promise<Response> {
    await this.#admit(request);
    const { files, environment } = this.#deps;
    const { endedAt, outputFileId } = await this.#find(request.principal, "messages", id);
    if (endedAt === undefined) {
      throw new GatewayError("object_not_found", "The batch has not ended: it has no results yet.");
    }
    const file = await files.find(outputFileId, environment.clock());
    const headers = { "content-type": "application/x-jsonl" };
    return new Response(file === undefined ? "" : contentOf(files, file), { headers });
  }

  /** Forgets an ended batch of Messages, with its results. Rejects with 404, and with 409 if it has not ended. */
  async remove(request: Request, id: string): Promise<JsonObject> {
    await this.#admit(request);
    const batch = await this.#find(request.principal, "messages", id);
    if (batch.endedAt === undefined) {
      throw new GatewayError("batch_not_ended", "The batch has not ended: cancel it first.");
    }
    await this.#deps.batches.remove(batch);
    return { id, type: "message_batch_deleted" };
  }

  /** Deletes batches and files that are not kept any longer. */
  async deleteExpired(): Promise<void> {
    await this.#deps.batches.deleteExpired(this.#deps.environment.clock());
    await this.files.deleteExpired();
  }

  #shown(batch: StoredBatch): JsonObject {
    return batch.kind === "calls" ? batchObject(batch) : messageBatchObject(batch, this.#deps.publicUrl);
  }

  async #find({ user, service }: Principal, kind: BatchKind, id: string): Promise<StoredBatch> {
    const found = isBatchId(id) ? await this.#deps.batches.find(id, this.#deps.environment.clock()) : undefined;
    if (found?.kind === kind && (found.owner === user || service)) return found;
    throw new GatewayError("object_not_found", `There is no batch ${JSON.stringify(id.slice(0, 80))} of yours.`, {
      param: "batch_id",
    });
  }

  #admit({ requestId, principal }: Request, needsCredits = false): Promise<void> {
    return this.#deps.admitFree({ requestId, principal, operation: "files", needsCredits });
  }

  async #checkWebhook({ user: owner }: Principal, url: string | undefined): Promise<void> {
    if (url !== undefined) await this.#deps.webhooks.check({ owner, url });
  }
}

function carried(headers: Headers): Record<string, string> {
  return Object.fromEntries(
    CARRIED.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
}

/** Throws 422 for a `custom_id` that stands twice: no result could be told from the other. */
function requireUniqueIds(requests: readonly MessageRequest[]): void {
  const ids = new Set<string>();
  for (const [index, { customId: id }] of requests.entries()) {
    if (ids.has(id)) throw invalid(`requests.${index}.custom_id`, "it is that of an earlier request");
    ids.add(id);
  }
}

/** In valid JSON, an end of a line is white space. */
function lineOf(bytes: Buffer): Buffer {
  const line = Buffer.concat([bytes, Buffer.from("\n")]);
  for (let at = line.indexOf(NEWLINE); at < bytes.length; at = line.indexOf(NEWLINE, at)) line[at] = SPACE;
  return line;
}

async function* eachOf(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void, undefined> {
  yield* pieces;
}

function invalid(param: string, reason: string): GatewayError {
  return new GatewayError("validation_failed", `${param}: ${reason}`, { param });
}
