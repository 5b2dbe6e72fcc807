import { GatewayError, type JsonObject } from "../../core/index.ts";
import { type Answer, collectAnswer, type DialectTranslation, type UpstreamContext } from "../conversation/index.ts";
import { readMessagesFailure, writeMessagesError } from "./answers/failures.ts";
import { MessagesStreamReader } from "./answers/stream-reader.ts";
import { MessagesStreamWriter } from "./answers/stream-writer.ts";
import { writeMessagesAnswer } from "./answers/write-answer.ts";
import { messagesFields } from "./fields.ts";
import { readMessagesRequest } from "./requests/read-request.ts";
import { writeMessagesRequest } from "./requests/write-request.ts";

/** Anthropic Messages, to and from the conversation model. */
export const messagesTranslation: DialectTranslation = {
  dialect: "messages",
  fields: messagesFields,
  readRequest: readMessagesRequest,
  writeRequest: writeMessagesRequest,
  readAnswer: readMessagesAnswer,
  writeAnswer: writeMessagesAnswer,
  streamReader: (upstream) => new MessagesStreamReader(upstream),
  streamWriter: (client) => new MessagesStreamWriter(client),
  readFailure: readMessagesFailure,
  writeFailure: (failure, requestId) => JSON.stringify(writeMessagesError(failure, requestId)),
  writeFailureEvent: (failure, requestId) =>
    `event: error\ndata: ${JSON.stringify(writeMessagesError(failure, requestId))}\n\n`,
};

function readMessagesAnswer(answer: JsonObject, upstream: UpstreamContext): Answer {
  if (!Array.isArray(answer["content"])) {
    throw new GatewayError("upstream_invalid_answer", "The upstream's answer has no content.");
  }
  return collectAnswer(new MessagesStreamReader(upstream).readMessage(answer));
}
