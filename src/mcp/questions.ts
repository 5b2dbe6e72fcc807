/**
 * Questions of servers to clients of 2025, which are asked on the stream of a request and answered by another POST. That may come to any
 * process: the id of a question names the one that has asked, sealed for the session, so that an answer of anybody else is none.
 */
import { type CallSignal, type JsonObject, objectOf, type RandomBytes, randomId, stringOf } from "../core/index.ts";
import { notificationText, requestText, RpcError, rpcCodes } from "./json-rpc.ts";
import type { Outgoing } from "./outgoing.ts";

const NONCE_CHARACTERS = 22;

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
  sealing: Sealing;
  /** Identifies this process. */
  process: string;
  /** Sends an answer to the process that has asked. */
  forward: (process: string, answer: ForwardedAnswer) => void;
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

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  /** Resolves with the result. Rejects with an `RpcError`: the client's refusal, or that nobody waits any longer. */
  async ask({ owner, session }: QuestionOwner, outgoing: Outgoing, question: ClientQuestion): Promise<JsonObject> {
    const { process, sealing, randomBytes } = this.#options;
    const { method, params, signal } = question;
    const nonce = randomId(randomBytes, NONCE_CHARACTERS);
    const id = sealing.seal(JSON.stringify([process, nonce]), sealedFor({ owner, session }));
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
    const withdraw = {
      handleEvent: (): void => {
        outgoing.notify(notificationText("notifications/cancelled", { requestId: id }));
        reject(new RpcError(rpcCodes.invalidRequest, "The server waits for the answer no longer."));
      },
    };
    if (signal.aborted) throw new RpcError(rpcCodes.invalidRequest, "The server waits for the answer no longer.");
    signal.addEventListener("abort", withdraw);
    this.#open.set(nonce, { owner, session, settle: resolve });
    try {
      outgoing.ask(requestText(id, method, params));
      return resultIn(await promise);
    } finally {
      signal.removeEventListener("abort", withdraw);
      this.#open.delete(nonce);
    }
  }

  /** A client's answer. One to nothing that this client was asked changes nothing. */
  answer(from: QuestionOwner, answer: JsonObject): void {
    const named = this.#read(from, stringOf(answer["id"]));
    if (named === undefined) return;
    const [process, nonce] = named;
    if (process === this.#options.process) this.receive({ ...from, nonce, answer });
    else this.#options.forward(process, { ...from, nonce, answer });
  }

  /** An answer to a question of this process. */
  receive({ owner, session, nonce, answer }: ForwardedAnswer): void {
    const asked = this.#open.get(nonce);
    if (asked?.owner === owner && asked.session === session) asked.settle(answer);
  }

  #read(from: QuestionOwner, id: string): readonly [string, string] | undefined {
    try {
      const [process, nonce] = JSON.parse(this.#options.sealing.open(id, sealedFor(from))) as unknown[];
      return [stringOf(process), stringOf(nonce)];
    } catch {
      return undefined;
    }
  }
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
