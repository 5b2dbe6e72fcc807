import type { Dialect, FactName, JsonObject, ModelFacts } from "../../core/index.ts";
import type { ReadUsage } from "../../streaming/index.ts";
import type { Answer, AnswerEvent } from "./answer.ts";
import type { Conversation, NativeTool } from "./conversation.ts";
import type { Failure } from "./failure.ts";
import type { FieldTable } from "./fields.ts";

/**
 * One dialect in both directions, at both ends: as the client's (`readRequest`, `writeAnswer`, `streamWriter`,
 * `writeFailure`) and as the upstream's (`writeRequest`, `readAnswer`, `streamReader`, `readFailure`). Pure: no clock,
 * no randomness, no I/O. Two dialects only meet in the conversation model, so a further dialect is one more
 * implementation of this interface.
 */
export interface DialectTranslation {
  dialect: Dialect;
  /** The support for every field of a request in the other dialects. */
  fields: FieldTable;
  /** Throws `validation_failed` naming the invalid field. Keeps strings unchanged, however long. */
  readRequest(body: JsonObject): Conversation;
  /** Throws `validation_failed` naming the client's field that this dialect cannot express. */
  writeRequest(conversation: Conversation, target: TranslationTarget): JsonObject;
  /** This dialect's counterpart of a tool that a provider of another one runs; absent if no tool has one. */
  asOwnTool?(tool: NativeTool, context: OwnToolContext): NativeTool | undefined;
  /** Throws `upstream_invalid_answer`. */
  readAnswer(answer: JsonObject, upstream: UpstreamContext): Answer;
  /** JSON text: arguments of tools are inserted as the model wrote them, so that no digits are lost. */
  writeAnswer(answer: Answer, client: ClientContext): string;
  streamReader(upstream: UpstreamContext): StreamReader;
  streamWriter(client: ClientContext): StreamWriter;
  /** An upstream's error, from the body of an answer with that status. Never throws. */
  readFailure(status: number, body: string): Failure;
  /** The body of an answer that reports a failure to the client; JSON text. */
  writeFailure(failure: Failure, requestId: string): string;
  /** The event of a stream that reports a failure to the client, without any event before it. */
  writeFailureEvent(failure: Failure, requestId: string): string;
}

/** What decides whether a tool has a counterpart. */
export interface OwnToolContext {
  /** Of the model that is asked. */
  facts: ModelFacts;
  /** Whether the request has functions, too. */
  hasFunctions: boolean;
  /** Called with the name of each fact for which the tool is changed. */
  changed: (fact: FactName) => void;
}

/** Known properties of the upstream that a request is written for; properties, not names. */
export interface TranslationTarget extends ModelFacts {
  /** The provider's name of the model. */
  model: string;
  /** Only signatures of this origin, or native ones of this dialect, are sent there. */
  origin: string;
  /** The model's maximum output: replaces a limit that the dialect requires and the client omitted. */
  outputTokensMax?: number | undefined;
  /** The ids of items that other providers made, and that this one cannot read. */
  foreignIds?: ReadonlySet<string> | undefined;
  /** Called with the name of each fact about the model for which the request is changed. */
  changed?: ((fact: FactName) => void) | undefined;
}

/** Known properties of the upstream whose answer is read. */
export interface UpstreamContext {
  /** Tags its signatures. */
  origin: string;
  /** Unique to the call: missing ids of the upstream are derived from it. Letters and digits. */
  callId: string;
  /** The requested model, for an upstream that does not report the one that answered. */
  model: string;
  readUsage: ReadUsage;
  /** In Responses it stores nothing, so the ids of its items name nothing: the client gets the gateway's. */
  hasNoStore?: boolean;
  thinkTags?: ModelFacts["thinkTags"] | undefined;
  reasoningField?: ModelFacts["reasoningField"] | undefined;
}

/** Known properties of the client that an answer is written for. */
export interface ClientContext {
  /** The client's own body. */
  request: JsonObject;
  /** The same with the earlier rounds that it continues, if that is another one. */
  asked?: JsonObject;
  /** The model's name in the answer, for a client that compares it with the one it asked for. */
  shownModel?: string | undefined;
  /** Unique to the call: the answer's id is derived from it. Letters and digits. */
  callId: string;
  /** Seconds since the epoch, for an answer without its own time. */
  created: number;
  /** Expected input tokens, for a dialect that reports them before the upstream does. At least 1 is reported. */
  inputTokensEstimate: number;
  requestId: string;
}

/**
 * Upstream events to answer events. Unknown events are skipped; an unreadable event that must not be skipped is an
 * error.
 */
export interface StreamReader {
  /** `data` of one server-sent event. After the last event (`end` or `error`) nothing more is returned. */
  read(data: string): readonly AnswerEvent[];
  /** The upstream has closed: an unfinished answer ends with an error. */
  close(): readonly AnswerEvent[];
}

/** Answer events to the text of server-sent events; empty if an event has no text, or not yet. */
export interface StreamWriter {
  write(event: AnswerEvent): string;
}
