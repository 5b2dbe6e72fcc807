import type { Dialect, JsonObject, ModelFacts } from "../../core/index.ts";
import type { ReadUsage } from "../../streaming/index.ts";
import type { Answer, AnswerEvent } from "./answer.ts";
import type { Conversation } from "./conversation.ts";
import type { Failure } from "./failure.ts";
import type { FieldTable } from "./fields.ts";

/**
 * One dialect in both directions, at both ends: as the client's (`readRequest`, `writeAnswer`, `streamWriter`,
 * `writeFailure`) and as the upstream's (`writeRequest`, `readAnswer`, `streamReader`, `readFailure`). Pure: no clock,
 * no random, no I/O. Two of them meet only in the conversation model, so that a further dialect is one more of these.
 */
export interface DialectTranslation {
  dialect: Dialect;
  /** Every field of a request and what becomes of it in the other dialects. */
  fields: FieldTable;
  /** Throws `validation_failed` naming the field that can't be understood. Keeps strings as they are, however long. */
  readRequest(body: JsonObject): Conversation;
  /** Throws `validation_failed` naming the client's field that this dialect has no words for. */
  writeRequest(conversation: Conversation, target: TranslationTarget): JsonObject;
  /** Throws `upstream_invalid_answer`. */
  readAnswer(answer: JsonObject, upstream: UpstreamContext): Answer;
  /** JSON text: arguments of tools are put in as the model wrote them, without a number's digits lost. */
  writeAnswer(answer: Answer, client: ClientContext): string;
  streamReader(upstream: UpstreamContext): StreamReader;
  streamWriter(client: ClientContext): StreamWriter;
  /** An upstream's error, from the body of an answer with that status. Never throws. */
  readFailure(status: number, body: string): Failure;
  /** The body of an answer that tells the client of a failure; JSON text. */
  writeFailure(failure: Failure, requestId: string): string;
}

/** What is known of the upstream that a request is written for; facts, not names. */
export interface TranslationTarget extends ModelFacts {
  /** The model's name there. */
  model: string;
  /** Only signatures of this origin, or of no other than this dialect's own, are sent there. */
  origin: string;
  /** The most that the model can put out: fills in a limit that the dialect demands and the client left out. */
  outputTokensMax?: number | undefined;
}

/** What is known of the upstream whose answer is read. */
export interface UpstreamContext {
  /** Marks its signatures. */
  origin: string;
  /** Unique to the call: ids that the upstream leaves out are made from it. Letters and digits. */
  callId: string;
  /** The model that was asked, for an upstream that does not say which one answered. */
  model: string;
  readUsage: ReadUsage;
  thinkTags?: ModelFacts["thinkTags"] | undefined;
}

/** What is known of the client that an answer is written for. */
export interface ClientContext {
  /** The client's own body. */
  request: JsonObject;
  /** Unique to the call: the answer's id is made from it. Letters and digits. */
  callId: string;
  /** Seconds since the epoch, for an answer that does not say when it was made. */
  created: number;
  /** Tokens that probably went in, for a dialect that names them before the upstream does. At least 1 is said. */
  inputTokensEstimate: number;
  requestId: string;
}

/** Upstream events to answer events. Unknown events are skipped; what must not be skipped and can't be read is an error. */
export interface StreamReader {
  /** `data` of one server-sent event. After the last event (`end` or `error`) nothing more comes out. */
  read(data: string): readonly AnswerEvent[];
  /** The upstream has closed: an answer that was not finished ends with an error. */
  close(): readonly AnswerEvent[];
}

/** Answer events to the text of server-sent events; empty where an event shows nothing, or not yet. */
export interface StreamWriter {
  write(event: AnswerEvent): string;
}
