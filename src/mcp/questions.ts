/**
 * Questions of servers to clients of 2025, which are asked on the stream of a request and answered by another POST. That may come to any
 * process: the id of a question names the one that has asked, sealed for the session, so that an answer of anybody else is none.
 */
import {
  type CallSignal,
  type Clock,
  GatewayError,
  type JsonObject,
  objectOf,
  type RandomBytes,
  randomId,
  stringOf,
} from "../core/index.ts";
import type { Ticker } from "../streaming/index.ts";
import { notificationText, requestText, RpcError, rpcCodes } from "./json-rpc.ts";
import type { Outgoing } from "./outgoing.ts";

const NONCE_CHARACTERS = 22;

/** How long a client may take to answer. */
export const ANSWER_MS_MAX = 10 * 60_000;

/** How far the clocks of two nodes may differ. */
const SKEW_MS_MAX = 60_000;

/** JSON of an answer: it may be encrypted for another process. */
const ANSWER_CHARACTERS_MAX = 1024 * 1024;

/** Questions that wait for answers: of one token, and of all in a process. */
const OPEN_PER_OWNER_MAX = 20;
const OPEN_MAX = 1_000;

/** Answers for other processes that are remembered: each is forwarded once. */
const FORWARDED_MAX = 10_000;

/** The client of a session: the id of its token, and the session. */
export interface QuestionOwner {
  owner: string;
  session: string;
}

/** A client's answer that has come to another process than the question. */
export interface ForwardedAnswer extends QuestionOwner {
  nonce: string;
  /** The message: it has a result or an error. */
  answer: JsonObject;
}

/** Encrypts texts for their owner, so that any process opens them. Both throw an `RpcError`. */
export interface Sealing {
  seal: (text: string, owner: readonly string[]) => string;
  open: (sealed: string, owner: readonly string[]) => string;
}

export interface QuestionsOptions {
  randomBytes: RandomBytes;
  ticker: Ticker;
  clock: Clock;
  sealing: Sealing;
  /** Identifies this process. */
  process: string;
  /** Sends an answer to the process that has asked. Resolves with false if that could not be done. */
  forward: (process: string, answer: ForwardedAnswer) => Promise<boolean>;
}

/** A question of a server. */
export interface ClientQuestion {
  method: string;
  params: JsonObject;
  /** Aborted when the server waits no longer. */
  signal: CallSignal;
}

interface OpenQuestion extends QuestionOwner {
  settle: (answer: JsonObject) => void;
}

export class Questions {
  readonly #options: QuestionsOptions;
  /** By their nonces. */
  readonly #open = new Map<string, OpenQuestion>();
  /** The nonces of answers to other processes, the oldest first. */
  readonly #forwarded = new Set<string>();

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  /**
   * Resolves with the result. Rejects with an `RpcError`: the client's refusal, that nobody waits any longer, that the client has not
   * answered in time, or that it has too many questions already.
   */
  async ask({ owner, session }: QuestionOwner, outgoing: Outgoing, question: ClientQuestion): Promise<JsonObject> {
    const { process, sealing, randomBytes, ticker, clock } = this.#options;
    const { method, params, signal } = question;
    if (signal.aborted) throw refusal(WITHDRAWN);
    this.#refuseFlood(owner);
    const nonce = randomId(randomBytes, NONCE_CHARACTERS);
    const id = sealing.seal(JSON.stringify([process, nonce, clock()]), sealedFor({ owner, session }));
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
    const end = (reason: string): void => {
      outgoing.notify(notificationText("notifications/cancelled", { requestId: id }));
      reject(refusal(reason));
    };
    const withdraw = { handleEvent: () => end(WITHDRAWN) };
    signal.addEventListener("abort", withdraw);
    const stopTimer = ticker.after(ANSWER_MS_MAX, () => end("The client has not answered in time."));
    this.#open.set(nonce, { owner, session, settle: resolve });
    try {
      outgoing.ask(requestText(id, method, params));
      return resultIn(await promise);
    } finally {
      stopTimer();
      signal.removeEventListener("abort", withdraw);
      this.#open.delete(nonce);
    }
  }

  /**
   * A client's answer. One to nothing that this client was asked lately changes nothing. Rejects with an `RpcError` (413) for one that is
   * too long, and with a `GatewayError` if the process that has asked cannot get it.
   */
  async answer(from: QuestionOwner, answer: JsonObject): Promise<void> {
    const named = this.#read(from, stringOf(answer["id"]));
    if (named === undefined) return;
    if (isTooLong(answer)) throw new RpcError(rpcCodes.invalidRequest, "The answer is too long.", { status: 413 });
    const [process, nonce] = named;
    if (process === this.#options.process) this.receive({ ...from, nonce, answer });
    else await this.#forward(process, { ...from, nonce, answer });
  }

  /** Each once, however often a client sends it. */
  async #forward(process: string, answer: ForwardedAnswer): Promise<void> {
    const { nonce } = answer;
    if (this.#forwarded.has(nonce)) return;
    this.#forwarded.add(nonce);
    for (const oldest of this.#forwarded) {
      if (this.#forwarded.size <= FORWARDED_MAX) break;
      this.#forwarded.delete(oldest);
    }
    if (await this.#options.forward(process, answer)) return;
    this.#forwarded.delete(nonce);
    throw new GatewayError("storage_unavailable", "The answer can't be passed on.", { retryAfterSeconds: 1 });
  }

  /** An answer to a question of this process. */
  receive({ owner, session, nonce, answer }: ForwardedAnswer): void {
    const asked = this.#open.get(nonce);
    if (asked?.owner === owner && asked.session === session) asked.settle(answer);
  }

  #refuseFlood(owner: string): void {
    let own = 0;
    for (const open of this.#open.values()) if (open.owner === owner) own += 1;
    if (own >= OPEN_PER_OWNER_MAX || this.#open.size >= OPEN_MAX)
      throw refusal("Too many questions wait for the client's answers.");
  }

  /** The process that has asked, and the nonce. Undefined for an id of another owner, or one that nobody waits for any more. */
  #read(from: QuestionOwner, id: string): readonly [string, string] | undefined {
    const { sealing, clock } = this.#options;
    try {
      const [process, nonce, askedAt] = JSON.parse(sealing.open(id, sealedFor(from))) as unknown[];
      return isLate(Number(askedAt), clock()) ? undefined : [stringOf(process), stringOf(nonce)];
    } catch {
      return undefined;
    }
  }
}

const WITHDRAWN = "The server waits for the answer no longer.";

function refusal(message: string): RpcError {
  return new RpcError(rpcCodes.invalidRequest, message);
}

/** Whether nobody waits for the answer to a question of that time any more, on whichever node. Both in milliseconds. */
export function isLate(askedAt: number, now: number): boolean {
  return !(now - askedAt <= ANSWER_MS_MAX + SKEW_MS_MAX);
}

/** Whether a client's answer, or several together, are longer than the gateway passes on. */
export function isTooLong(answer: JsonObject): boolean {
  return JSON.stringify(answer).length > ANSWER_CHARACTERS_MAX;
}

function sealedFor({ owner, session }: QuestionOwner): readonly string[] {
  return ["question", owner, session];
}

function resultIn({ result, error }: JsonObject): JsonObject {
  const given = objectOf(result);
  if (given !== undefined) return given;
  const { code, message } = objectOf(error) ?? {};
  throw new RpcError(
    typeof code === "number" ? code : rpcCodes.invalidParams,
    typeof message === "string" ? message : "The client gives no result.",
  );
}
