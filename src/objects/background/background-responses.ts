/**
 * Responses with `background: true`, for every provider. One that its upstream runs by itself is followed by a job; any other is run by
 * the process that has accepted it, whose job only tells that it lives: a response is never run twice, so that one whose process
 * has died has failed.
 */
import type { Principal } from "../../auth/index.ts";
import { keepAnswer, type PaidAnswer, StoredBody } from "../../charges/index.ts";
import { GatewayError, isStorableId, type JsonObject, limits, shuttingDown } from "../../core/index.ts";
import { type JobHandler, type JobLease, keepLease, type LeasedJob, newLease, runClaimed } from "../../jobs/index.ts";
import { EVENT_HEADERS } from "../../streaming/index.ts";
import type { BackgroundCall, NativeCall } from "./background-call.ts";
import { BackgroundRun } from "./background-run.ts";
import { BACKGROUND_JOB, type BackgroundDependencies } from "./dependencies.ts";
import { endLost } from "./end-response.ts";
import { EventStream } from "./event-stream.ts";
import { type BackgroundPayload, followNative, OVERDUE_MS_MAX } from "./follow-native.ts";
import type { BackgroundKey, BackgroundResponse } from "./store.ts";

/** How long a cancellation waits for the end, and how often it looks. */
const CANCEL_MS_MAX = 10_000;
const CANCEL_LOOK_MS = 100;

/** Failures in a row; with the longest back-off, days. The response's hour decides before. */
const ATTEMPTS_MAX = 100_000;

/** One look at a response. */
const RUN_MS_MAX = 60_000;
const RUNS_MAX = 32;

const JSON_HEADERS = { "content-type": "application/json" };

export class BackgroundResponses {
  readonly #deps: BackgroundDependencies;
  /** Those that this process runs, by owner and id. */
  readonly #runs = new Map<string, BackgroundRun>();
  readonly #ending = new Set<Promise<void>>();
  readonly #streams = new Set<EventStream>();

  constructor(deps: BackgroundDependencies) {
    this.#deps = deps;
  }

  /** Responses that run here, and streams of events. */
  get active(): number {
    return this.#ending.size + this.#streams.size;
  }

  /** The calls themselves are ended by their shell. */
  abortAll(): void {
    for (const stream of this.#streams) stream.fail(shuttingDown());
  }

  /**
   * Runs a call in the background, and resolves with the answer of its request: the response before its end, its events, or a
   * refusal. Rejects if the call fails before its response has an id, or cannot be recorded.
   */
  async begin(call: BackgroundCall): Promise<PaidAnswer> {
    const run = new BackgroundRun(this.#deps, call);
    const running = run.run();
    const ending = running.finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
    try {
      const opened = call.queued ?? (await run.opened);
      if (isAnswer(opened)) return opened;
      return await this.#keep(call, run, { opened, running });
    } catch (thrown) {
      run.cancel();
      throw thrown;
    }
  }

  async #keep(
    call: BackgroundCall,
    run: BackgroundRun,
    { opened, running }: { opened: JsonObject; running: Promise<void> },
  ): Promise<PaidAnswer> {
    const { jobs, background, ticker, work, logger } = this.#deps;
    const record = this.#recordOf(call, opened);
    const { id, owner, workId, createdAt } = record;
    const lease = this.#newLease();
    const payload: BackgroundPayload = { id, owner };
    const job = { id: workId, kind: BACKGROUND_JOB, owner, payload, runAt: createdAt, createdAt };
    await jobs.put(job, lease);
    const leased: LeasedJob = { ...job, attempts: 0, lease };
    if (!(await background.insert(record))) throw repeatedId();
    run.keep(record);
    const name = nameOf(record);
    this.#runs.set(name, run);
    const stop = keepLease(
      {
        jobs,
        ticker,
        clock: work.clock,
        leaseMs: limits.backgroundLeaseMs,
        onError: (reason) =>
          logger.warn({ request_id: workId, reason: String(reason) }, "a lease could not be renewed"),
        onLost: () => run.cancel(),
      },
      leased,
    );
    void this.#finish(leased, running, () => {
      stop();
      this.#runs.delete(name);
    });
    return this.#answer(call, record);
  }

  /** The job is done if the response's end is stored. */
  async #finish(job: LeasedJob, running: Promise<void>, clear: () => void): Promise<void> {
    const { background, jobs, logger } = this.#deps;
    await running;
    clear();
    try {
      const { id, owner } = job.payload as BackgroundPayload;
      const state = await background.stateOf({ id, owner });
      if (state === "ended" || state === undefined) await jobs.finish(job);
    } catch (reason) {
      // Its lease runs out.
      logger.warn({ request_id: job.id, reason: String(reason) }, "a job could not be removed");
    }
  }

  #recordOf({ running, record }: Pick<BackgroundCall, "running" | "record">, response: JsonObject): BackgroundResponse {
    const { id } = response;
    if (typeof id !== "string" || !isStorableId(id)) {
      throw new GatewayError("upstream_invalid_answer", "The upstream did not name the response.");
    }
    const createdAt = this.#deps.work.clock();
    return {
      ...record,
      id,
      workId: running.id,
      response,
      isCancelled: false,
      createdAt,
      endedAt: undefined,
      keptUntil: createdAt + limits.backgroundMsMax + OVERDUE_MS_MAX + limits.backgroundEventsTtlMs,
    };
  }

  #newLease(): JobLease {
    return newLease(this.#deps, this.#deps.work.clock() + limits.backgroundLeaseMs);
  }

  /** The request's answer, which is kept for its retry key: of a stream, the first event. */
  async #answer({ running, isStreamed, headers }: BackgroundCall, record: BackgroundResponse): Promise<PaidAnswer> {
    const { headers: typed, text } = firstAnswer(record.response, isStreamed);
    const all = { ...headers(), ...typed, "x-tollgate-credits": "0" };
    const answer = { status: 200, headers: Object.entries(all), body: Buffer.from(text) };
    await keepAnswer(this.#deps.work, running.work.order, answer);
    return { status: 200, headers: all, body: isStreamed ? this.events(record, -1, running.id) : text };
  }

  /** A response as the answer for a retry key: of a stream, one event. */
  answerOf(response: JsonObject, isStreamed: boolean): { headers: Record<string, string>; body: StoredBody } {
    const { headers, text } = firstAnswer(response, isStreamed);
    return { headers, body: new StoredBody().add(Buffer.from(text)) };
  }

  /** Records a response that its upstream runs by itself, and leaves its work to a job. */
  async adopt({ running, record: input, keyId, response }: NativeCall): Promise<void> {
    const { background, work } = this.#deps;
    const shown = { ...response, background: true };
    const record = this.#recordOf({ running, record: input }, shown);
    const { id, owner, workId, createdAt } = record;
    if (!(await background.insert(record))) throw repeatedId();
    const created = JSON.stringify({ type: "response.created", sequence_number: 0, response: shown });
    await background.append(record, { first: 0, last: 0, events: created });
    const until = createdAt + limits.backgroundMsMax + OVERDUE_MS_MAX;
    await running.park(until, (parked) => {
      const payload: BackgroundPayload = { id, owner, native: { parked, keyId } };
      return { id: workId, kind: BACKGROUND_JOB, owner, payload, runAt: createdAt, createdAt };
    });
    running.memory.free();
    const answer = { status: 200, headers: Object.entries(JSON_HEADERS), body: Buffer.from(JSON.stringify(response)) };
    await keepAnswer(work, running.work.order, answer);
  }

  /** The record of the caller's response, also for a while after its end; one that its upstream runs is brought up to date. */
  async find(id: string, { user: owner }: Principal): Promise<BackgroundResponse | undefined> {
    const record = await this.#find({ id, owner });
    if (record === undefined || record.endedAt !== undefined) return record;
    return (await this.#refresh(record)) ? await this.#find(record) : record;
  }

  async #find({ id, owner }: BackgroundKey): Promise<BackgroundResponse | undefined> {
    const { background, work } = this.#deps;
    return isStorableId(id) ? background.find({ id, owner }, work.clock()) : undefined;
  }

  /** Asks the upstream that runs the response, unless another process does. Resolves with whether it was asked. */
  async #refresh({ workId }: BackgroundResponse): Promise<boolean> {
    const { jobs, work, logger } = this.#deps;
    const found = await jobs.find(workId);
    if ((found?.payload as BackgroundPayload | undefined)?.native === undefined) return false;
    const onError = (reason: unknown): void =>
      logger.warn(
        { request_id: workId, reason: String(reason) },
        "a response in the background could not be looked up",
      );
    const claim = { jobs, clock: work.clock, lease: this.#newLease(), onError };
    return runClaimed(claim, workId, (job) => followNative(this.#deps, job));
  }

  /** Cancels the caller's response, and resolves with its record. Undefined if no response of the caller has this id here. */
  async cancel(id: string, { user: owner }: Principal): Promise<BackgroundResponse | undefined> {
    const { background, ticker } = this.#deps;
    let record = await this.#find({ id, owner });
    const giveUpAt = ticker.now() + CANCEL_MS_MAX;
    while (record !== undefined && (await background.cancel(record))) {
      this.#runs.get(nameOf(record))?.cancel();
      await this.#refresh(record);
      record = await this.#find(record);
      if (record?.endedAt !== undefined || ticker.now() >= giveUpAt) return record;
      await ticker.pause(CANCEL_LOOK_MS);
    }
    return record && (await this.#find(record));
  }

  /** Forgets the caller's response, which is cancelled first. */
  async remove(id: string, principal: Principal): Promise<void> {
    const record = await this.cancel(id, principal);
    if (record !== undefined) await this.#deps.background.remove(record);
  }

  /** The events of a response after this number, until its end. */
  events(record: BackgroundKey, after: number, requestId: string): ReadableStream<Uint8Array> {
    const { background, ticker } = this.#deps;
    const onEnd = (): void => void this.#streams.delete(stream);
    const stream = new EventStream(record, { background, ticker, requestId, after, onEnd });
    this.#streams.add(stream);
    return stream.body;
  }

  /** Deletes the records of responses that ended a while ago. */
  deleteExpired(): Promise<void> {
    return this.#deps.background.deleteExpired(this.#deps.work.clock());
  }

  /** Follows the responses that upstreams run, and ends those whose process has died. */
  get handler(): JobHandler {
    const deps = this.#deps;
    return {
      async run(job, { signal }) {
        const payload = job.payload as BackgroundPayload;
        if (payload.native !== undefined) return followNative(deps, job, signal);
        await endLost(deps, payload);
        return { done: true };
      },
      onExhausted: ({ payload }) => endLost(deps, payload as BackgroundPayload),
      attemptsMax: ATTEMPTS_MAX,
      runMsMax: RUN_MS_MAX,
      concurrencyMax: RUNS_MAX,
      upstreamOf: ({ payload }) => (payload as BackgroundPayload).native?.parked.source.provider,
    };
  }
}

function firstAnswer(response: JsonObject, isStreamed: boolean): { headers: Record<string, string>; text: string } {
  if (!isStreamed) return { headers: JSON_HEADERS, text: JSON.stringify(response) };
  const type = response["status"] === "completed" ? "response.completed" : "response.created";
  const data = JSON.stringify({ type, sequence_number: 0, response });
  return { headers: EVENT_HEADERS, text: `event: ${type}\ndata: ${data}\n\n` };
}

const isAnswer = (opened: JsonObject | PaidAnswer): opened is PaidAnswer => "headers" in opened;

const repeatedId = (): GatewayError =>
  new GatewayError("upstream_invalid_answer", "The upstream gave the response the id of an earlier one.");

const nameOf = ({ id, owner }: BackgroundKey): string => `${owner} ${id}`;
