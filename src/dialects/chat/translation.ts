import { GatewayError, type JsonObject, objectOf } from "../../core/index.ts";
import {
  type Answer,
  type AnswerEvent,
  collectAnswer,
  type DialectTranslation,
  type UpstreamContext,
} from "../conversation/index.ts";
import { readOpenaiFailure, writeOpenaiError } from "../openai-failures.ts";
import { ChatStreamReader } from "./answers/stream-reader.ts";
import { ChatStreamWriter } from "./answers/stream-writer.ts";
import { writeChatAnswer } from "./answers/write-answer.ts";
import { chatFields } from "./fields.ts";
import { readChatRequest } from "./requests/read-request.ts";
import { writeChatRequest } from "./requests/write-request.ts";

/** OpenAI Chat Completions, to and from the conversation model. */
export const chatTranslation: DialectTranslation = {
  dialect: "chat",
  fields: chatFields,
  readRequest: readChatRequest,
  writeRequest: writeChatRequest,
  readAnswer: readChatAnswer,
  writeAnswer: writeChatAnswer,
  streamReader: (upstream) => new ChatStreamReader(upstream),
  streamWriter: (client) => new ChatStreamWriter(client),
  readFailure: readOpenaiFailure,
  writeFailure: (failure) => JSON.stringify(writeOpenaiError(failure)),
  // OpenAI's SDKs throw for a chunk with a top-level `error` (`docs/wire/openai.md`).
  writeFailureEvent: (failure) => `data: ${JSON.stringify(writeOpenaiError(failure))}\n\n`,
};

/** Some upstreams have an empty `delta` beside the `message` of a whole answer (`docs/wire/others.md`). */
function withoutDelta(choice: unknown): unknown {
  const { delta, message, ...others } = objectOf(choice) ?? {};
  return { ...others, message: objectOf(message) ?? delta };
}

/** A whole answer is read as a stream of one chunk. */
function readChatAnswer(answer: JsonObject, upstream: UpstreamContext): Answer {
  const choices = answer["choices"];
  if (!Array.isArray(choices) || choices.length === 0) {
    throw new GatewayError("upstream_invalid_answer", "The upstream's answer has no choices.");
  }
  const reader = new ChatStreamReader(upstream);
  const events: AnswerEvent[] = [];
  reader.readChunk({ ...answer, choices: choices.map(withoutDelta) }, events);
  return collectAnswer([...events, ...reader.read("[DONE]")]);
}
