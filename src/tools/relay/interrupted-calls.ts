/**
 * Requests of clients of 2026-07-28 that a server of 2025 interrupts with questions. The client gets the questions as the result of its
 * request, and makes that again with the answers; the server has its first request open meanwhile:
 *
 *   running ──the server asks──▶ asked ──the client answers──▶ running ──▶ ended
 *      └──the client leaves──▶ ended ◀──nobody answers in time──┘
 *
 * The request is open in one process. Another one that gets the answers sends them there, and the next step back.
 */
import {
  type Clock,
  errorCodeIn,
  GatewayError,
  type JsonObject,
  objectOf,
  type RandomBytes,
  randomId,
  stringOf,
  toGatewayError,
} from "../../core/index.ts";
import {
  ANSWER_MS_MAX,
  type ClientQuestion,
  isLate,
  isTooLong,
  RpcError,
  rpcCodes,
  type ServerLog,
} from "../../mcp/index.ts";
import type { Ticker } from "../../streaming/index.ts";
import type { ProcessMail } from "../mail/process-mail.ts";
import { GatheredReports, passReports, wantedReports } from "./gathered-reports.ts";

/** Requests that wait for answers, and clients that wait for requests of other processes. */
const ASKED_PER_USER_MAX = 20;
const ASKED_MAX = 1_000;

/** Between signs that another process has the request, and the silence after which it has not. */
const ALIVE_MS = 4_000;
const SILENT_MS_MAX = 15_000;

const ID_CHARACTERS = 22;

/** The end of a request. */
export interface CallEnd {
  result: JsonObject;
  headers?: Readonly<Record<string, string>> | undefined;
}

/** A request that waits for answers. */
export interface AskedCall {
  process: string;
  id: string;
  /** When its questions were given to the client. */
  askedAt: number;
}

/** A request comes to its end, or to questions by their keys. */
export type CallStep = { end: CallEnd } | { questions: JsonObject; call: AskedCall };

export type Asker = (question: ClientQuestion) => Promise<JsonObject>;

/** Who makes a request. */
export interface CallOwner {
  user: string;
  /** Identifies the user and the request: only the same request goes on. */
  key: string;
}

/** How one of the client's requests takes part. */
interface Attendance {
  /** Aborted when the client leaves. */
  signal: AbortSignal;
  onProgress: ((params: JsonObject) => void) | undefined;
  log: ServerLog | undefined;
}

interface InterruptedCallsOptions {
  ticker: Ticker;
  randomBytes: RandomBytes;
  clock: Clock;
  mail: ProcessMail;
}

interface Elsewhere {
  user: string;
  settle: (letter: JsonObject) => void;
  report: (reports: unknown) => void;
  noteAlive: () => void;
}

export class InterruptedCalls {
  readonly #options: InterruptedCallsOptions;
  readonly #asked = new Map<string, OpenCall>();
  /** Requests that another process has, by the ids of the letters. */
  readonly #elsewhere = new Map<string, Elsewhere>();
  /** Clients of other processes that wait here. */
  readonly #guests = new Map<string, AbortController>();

  constructor(options: InterruptedCallsOptions) {
    this.#options = options;
    const { mail } = options;
    mail.on("resume", (letter) => void this.#serve(letter));
    mail.on("leave", ({ request }) => this.#guests.get(stringOf(request))?.abort());
    mail.on("alive", ({ request }) => this.#elsewhere.get(stringOf(request))?.noteAlive());
    mail.on("reports", ({ request, reports }) => this.#elsewhere.get(stringOf(request))?.report(reports));
    mail.on("step", (letter) => this.#elsewhere.get(stringOf(letter["request"]))?.settle(letter));
  }

  /** Begins a request. `run` gets the function by which a server asks. Rejects as `run` does. */
  begin(
    owner: CallOwner,
    run: (running: { ask: Asker } & Attendance) => Promise<CallEnd>,
    attendance: Attendance,
  ): Promise<CallStep> {
    const { ticker, randomBytes, clock, mail } = this.#options;
    const call = new OpenCall({
      owner,
      ticker,
      clock,
      named: { process: mail.process, id: randomId(randomBytes, ID_CHARACTERS) },
      admit: (asked) => this.#admit(asked),
      onEnd: ({ named }) => this.#asked.delete(named.id),
      log: attendance.log,
      run,
    });
    return call.next(attendance);
  }

  /** Goes on with a request. Rejects with -32602 if it is not this owner's, or is not open any more, and for answers that are too long. */
  async resume(asked: AskedCall, owner: CallOwner, answers: JsonObject, attendance: Attendance): Promise<CallStep> {
    const { mail, clock } = this.#options;
    if (isLate(asked.askedAt, clock())) throw notOpen();
    if (isTooLong(answers)) throw new RpcError(rpcCodes.invalidParams, "inputResponses are too long.");
    if (asked.process !== mail.process) return this.#resumeElsewhere(asked, { owner, answers }, attendance);
    return this.#resumeHere(asked, { owner, answers }, attendance);
  }

  #resumeHere(
    { id }: Pick<AskedCall, "id">,
    { owner, answers }: { owner: CallOwner; answers: JsonObject },
    attendance: Attendance,
  ): Promise<CallStep> {
    const call = this.#asked.get(id);
    if (call === undefined || call.owner.key !== owner.key) return Promise.reject(notOpen());
    call.answer(answers);
    return call.next(attendance);
  }

  /** Ends those that wait for answers. */
  close(): void {
    for (const call of this.#asked.values()) call.end(new GatewayError("shutting_down", "The server is going down."));
  }

  /** Throws if there are too many. */
  #admit(call: OpenCall): void {
    const { id } = call.named;
    if (this.#asked.has(id)) return;
    refuseFlood(
      this.#asked.values().map(({ owner }) => owner),
      call.owner,
    );
    this.#asked.set(id, call);
  }

  async #resumeElsewhere(
    { process, id }: AskedCall,
    { owner, answers }: { owner: CallOwner; answers: JsonObject },
    { signal, ...reporting }: Attendance,
  ): Promise<CallStep> {
    const { mail, ticker, randomBytes } = this.#options;
    const request = randomId(randomBytes, ID_CHARACTERS);
    if (signal.aborted) throw signal.reason;
    // It was open before a restart.
    if (!mail.hasOthers) throw notOpen();
    refuseFlood(this.#elsewhere.values(), owner);
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
    let stopTimer: (() => void) | undefined;
    let isKnown = false;
    const listen = (): void => {
      stopTimer?.();
      stopTimer = ticker.after(SILENT_MS_MAX, () => reject(isKnown ? lost() : notOpen()));
    };
    let sending = Promise.resolve(false);
    const onGone = (): void => {
      // One that comes first would be about nothing.
      void sending.then(() => mail.send(process, "leave", { request }));
      reject(signal.reason);
    };
    const noteAlive = (): void => {
      isKnown = true;
      listen();
    };
    const report = (reports: unknown): void => passReports(reports, reporting);
    this.#elsewhere.set(request, { user: owner.user, settle: resolve, report, noteAlive });
    signal.addEventListener("abort", onGone);
    listen();
    try {
      const asked = { request, id, owner: { ...owner }, answers, wanted: wantedReports(reporting) };
      sending = mail.send(process, "resume", { ...asked, from: mail.process });
      void sending.then((isWritten) => isWritten || reject(lost()));
      // Awaited at once: the client may leave, or the time be over, while the letter is being written.
      const letter = await promise;
      report(letter["reports"]);
      return stepIn(letter, { process, id, askedAt: this.#options.clock() });
    } finally {
      stopTimer?.();
      signal.removeEventListener("abort", onGone);
      this.#elsewhere.delete(request);
    }
  }

  /** Goes on with a request of this process for a client that has come to another one. */
  async #serve(letter: JsonObject): Promise<void> {
    const { mail, ticker } = this.#options;
    const request = stringOf(letter["request"]);
    const from = stringOf(letter["from"]);
    const { user, key } = objectOf(letter["owner"]) ?? {};
    const owner = { user: stringOf(user), key: stringOf(key) };
    const id = stringOf(letter["id"]);
    const guest = new AbortController();
    this.#guests.set(request, guest);
    let stopTimer: (() => void) | undefined;
    const tell = (): void => {
      void mail.send(from, "alive", { request });
      stopTimer = ticker.after(ALIVE_MS, tell);
    };
    const reports = new GatheredReports({
      ticker,
      wanted: letter["wanted"],
      send: (gathered) => void mail.send(from, "reports", { request, reports: gathered }),
    });
    try {
      const attendance = { signal: guest.signal, onProgress: reports.onProgress, log: reports.log };
      const answers = objectOf(letter["answers"]) ?? {};
      const going = this.#resumeHere({ id }, { owner, answers }, attendance);
      if (this.#asked.has(id)) tell();
      const step = await going;
      const ended = "end" in step ? { end: { ...step.end } } : step;
      const body = { request, ...ended, call: undefined, reports: reports.rest() };
      // A long result may find no memory, or the storage not want it.
      if (!(await mail.send(from, "step", body))) throw lost();
    } catch (thrown) {
      void mail.send(from, "step", { request, error: errorLetter(thrown), reports: reports.rest() });
    } finally {
      stopTimer?.();
      this.#guests.delete(request);
    }
  }
}

interface OpenQuestion {
  question: JsonObject;
  settle: (answer: JsonObject) => void;
}

interface OpenCallOptions {
  owner: CallOwner;
  named: Omit<AskedCall, "askedAt">;
  ticker: Ticker;
  clock: Clock;
  /** Called before each question; throws an `RpcError` if it must not be asked. */
  admit: (call: OpenCall) => void;
  onEnd: (call: OpenCall) => void;
  /** Of the first of the client's requests. */
  log: ServerLog | undefined;
  run: (running: { ask: Asker } & Attendance) => Promise<CallEnd>;
}

class OpenCall {
  readonly owner: CallOwner;
  readonly named: Omit<AskedCall, "askedAt">;
  readonly #options: OpenCallOptions;
  readonly #abort = new AbortController();
  readonly #questions = new Map<string, OpenQuestion>();
  readonly #ended: Promise<{ end: CallEnd }>;
  #changed = Promise.withResolvers<undefined>();
  #attending = 0;
  #lastKey = 0;
  #onProgress: Attendance["onProgress"];
  #log: ServerLog | undefined;
  #stopTimer: () => void = () => undefined;

  constructor(options: OpenCallOptions) {
    this.#options = options;
    this.owner = options.owner;
    this.named = options.named;
    const ask: Asker = (question) => this.#ask(question);
    const onProgress = (params: JsonObject): void => this.#onProgress?.(params);
    const level = options.log?.level;
    const log = options.log && { level, send: (params: JsonObject): void => this.#log?.send(params) };
    this.#ended = options.run({ ask, signal: this.#abort.signal, onProgress, log }).then((end) => ({ end }));
    const forget = (): void => {
      this.#stopTimer();
      options.onEnd(this);
    };
    void this.#ended.then(forget, forget);
  }

  /** Those of questions that are not open change nothing. */
  answer(answers: JsonObject): void {
    for (const [key, { settle }] of this.#questions) {
      const answer = objectOf(answers[key]);
      if (answer === undefined) continue;
      this.#questions.delete(key);
      settle(answer);
    }
  }

  end(reason: Error): void {
    this.#abort.abort(reason);
  }

  /** The next step, for a client that waits. The request ends with the last of them that leaves before. */
  async next({ signal, onProgress, log }: Attendance): Promise<CallStep> {
    this.#attending += 1;
    this.#stopTimer();
    this.#onProgress = onProgress;
    this.#log = log;
    const onGone = (): void => {
      if (this.#attending === 1) this.end(signal.reason as Error);
    };
    signal.addEventListener("abort", onGone);
    if (signal.aborted) onGone();
    try {
      for (;;) {
        if (this.#questions.size > 0) return { questions: this.#shown(), call: this.#asked() };
        const ended = await Promise.race([this.#ended, this.#changed.promise]);
        if (ended !== undefined) return ended;
      }
    } finally {
      signal.removeEventListener("abort", onGone);
      this.#attending -= 1;
      if (this.#attending === 0 && this.#questions.size > 0) this.#waitForAnswers();
    }
  }

  #asked(): AskedCall {
    return { ...this.named, askedAt: this.#options.clock() };
  }

  #waitForAnswers(): void {
    this.#onProgress = undefined;
    this.#log = undefined;
    this.#stopTimer = this.#options.ticker.after(ANSWER_MS_MAX, () =>
      this.end(new GatewayError("upstream_timeout", "The client has not answered the server's question in time.")),
    );
  }

  async #ask({ method, params, signal }: ClientQuestion): Promise<JsonObject> {
    this.#options.admit(this);
    const key = `q${(this.#lastKey += 1)}`;
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
    const withdraw = {
      handleEvent: () => reject(new RpcError(rpcCodes.invalidRequest, "The server waits for the answer no longer.")),
    };
    signal.addEventListener("abort", withdraw);
    if (signal.aborted) withdraw.handleEvent();
    this.#questions.set(key, { question: { method, params }, settle: resolve });
    this.#note();
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", withdraw);
      this.#questions.delete(key);
      this.#note();
    }
  }

  /** Lets the clients that wait look again. */
  #note(): void {
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers();
    resolve(undefined);
  }

  #shown(): JsonObject {
    return Object.fromEntries([...this.#questions].map(([key, { question }]) => [key, question]));
  }
}

/** Throws if too many of the user, or of all, are there already. */
function refuseFlood(there: Iterable<Pick<CallOwner, "user">>, { user }: Pick<CallOwner, "user">): void {
  let [all, own] = [0, 0];
  for (const one of there) {
    all += 1;
    if (one.user === user) own += 1;
  }
  if (own >= ASKED_PER_USER_MAX || all >= ASKED_MAX)
    throw new RpcError(rpcCodes.invalidRequest, "Too many requests wait for the client's answers.");
}

function notOpen(): RpcError {
  return new RpcError(rpcCodes.invalidParams, "requestState is not that of this request of yours.");
}

function lost(): GatewayError {
  return new GatewayError("upstream_interrupted", "The process that had the request has ended.");
}

/** An error as another process gives it to its client. */
function errorLetter(thrown: unknown): JsonObject {
  if (thrown instanceof RpcError) {
    const { code, message, status, data } = thrown;
    return { rpc: code, message, status, data };
  }
  const { code, message, param } = toGatewayError(thrown);
  return { code, message, param };
}

function stepIn({ end, questions, error }: JsonObject, call: AskedCall): CallStep {
  const failed = objectOf(error);
  if (failed !== undefined) throw errorIn(failed);
  const ended = objectOf(end);
  if (ended === undefined) return { questions: objectOf(questions) ?? {}, call };
  return {
    end: {
      result: objectOf(ended["result"]) ?? {},
      headers: ended["headers"] as Readonly<Record<string, string>> | undefined,
    },
  };
}

function errorIn({ rpc, code, message, status, param, data }: JsonObject): Error {
  const text = stringOf(message);
  if (typeof rpc === "number") {
    return new RpcError(rpc, text, {
      status: Number(status),
      ...(data !== undefined && { data: objectOf(data) ?? {} }),
    });
  }
  return new GatewayError(errorCodeIn(code), text, typeof param === "string" ? { param } : {});
}
