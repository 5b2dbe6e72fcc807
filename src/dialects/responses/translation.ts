import { asksForCompaction, GatewayError, type JsonObject } from "../../core/index.ts";
import { type Answer, collectAnswer, type DialectTranslation, type UpstreamContext } from "../conversation/index.ts";
import { readOpenaiFailure, writeOpenaiError } from "../openai-failures.ts";
import { writeStreamError } from "./answers/failures.ts";
import { ResponsesStreamReader } from "./answers/stream-reader.ts";
import { ResponsesStreamWriter } from "./answers/stream-writer.ts";
import { writeResponsesAnswer } from "./answers/write-answer.ts";
import { NO_SUMMARY, summaryOf, SummaryStreamWriter } from "./compaction.ts";
import { responsesFields } from "./fields.ts";
import { ToolNames } from "./tool-names.ts";
import { readResponsesRequest } from "./requests/read-request.ts";
import { writeResponsesRequest } from "./requests/write-request.ts";

/**
 * OpenAI Responses, to and from the conversation model. A body that references stored items is read by
 * `readResponsesRequest`.
 */
export const responsesTranslation: DialectTranslation = {
  dialect: "responses",
  fields: responsesFields,
  readRequest: (body) => readResponsesRequest(body),
  writeRequest: writeResponsesRequest,
  readAnswer: readResponsesAnswer,
  writeAnswer(answer, client) {
    if (asksForCompaction(client.request)) return writeResponsesAnswer(summarized(answer, client.callId), client);
    const names = new ToolNames(client.asked ?? client.request);
    const choices = answer.choices.map((choice) => ({
      ...choice,
      blocks: choice.blocks.map((one) => names.qualify(one)),
    }));
    return writeResponsesAnswer({ ...answer, choices }, client);
  },
  streamReader: (upstream) => new ResponsesStreamReader(upstream),
  streamWriter(client) {
    const writer = new ResponsesStreamWriter(client);
    if (asksForCompaction(client.request)) return new SummaryStreamWriter(writer, client.callId);
    const names = new ToolNames(client.asked ?? client.request);
    return { write: (event) => writer.write(names.qualifyEvent(event)) };
  },
  readFailure: readOpenaiFailure,
  writeFailure: (failure) => JSON.stringify(writeOpenaiError(failure)),
  // The events before it have not been counted.
  writeFailureEvent(failure) {
    const event = { type: "error", ...writeStreamError(failure).error, sequence_number: 0 };
    return `event: error\ndata: ${JSON.stringify(event)}\n\n`;
  },
};

function summarized(answer: Answer, callId: string): Answer {
  const [choice] = answer.choices;
  const block = choice && summaryOf(choice.blocks, callId);
  if (choice === undefined || block === undefined) throw new GatewayError("upstream_invalid_answer", NO_SUMMARY);
  return { ...answer, choices: [{ ...choice, blocks: [block] }] };
}

function readResponsesAnswer(answer: JsonObject, upstream: UpstreamContext): Answer {
  if (!Array.isArray(answer["output"])) {
    throw new GatewayError("upstream_invalid_answer", "The upstream's answer has no output.");
  }
  return collectAnswer(new ResponsesStreamReader(upstream).readResponse(answer));
}
