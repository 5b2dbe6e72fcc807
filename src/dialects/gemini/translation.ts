import { GatewayError, type JsonObject, objectOf } from "../../core/index.ts";
import { type Answer, collectAnswer, type DialectTranslation, type UpstreamContext } from "../conversation/index.ts";
import { readGeminiFailure, writeGeminiError } from "./answers/failures.ts";
import { GeminiStreamReader } from "./answers/stream-reader.ts";
import { GeminiStreamWriter } from "./answers/stream-writer.ts";
import { writeGeminiAnswer } from "./answers/write-answer.ts";
import { geminiFields } from "./fields.ts";
import { asOwnTool } from "./requests/own-tools.ts";
import { readGeminiRequest } from "./requests/read-request.ts";
import { writeGeminiRequest } from "./requests/write-request.ts";

/** Google's generateContent, to and from the conversation model. */
export const geminiTranslation: DialectTranslation = {
  dialect: "gemini",
  fields: geminiFields,
  readRequest: readGeminiRequest,
  writeRequest: writeGeminiRequest,
  asOwnTool,
  readAnswer: readGeminiAnswer,
  writeAnswer: writeGeminiAnswer,
  streamReader: (upstream) => new GeminiStreamReader(upstream),
  streamWriter: (client) => new GeminiStreamWriter(client),
  readFailure: readGeminiFailure,
  writeFailure: (failure) => JSON.stringify(writeGeminiError(failure)),
  writeFailureEvent: (failure) => `data: ${JSON.stringify(writeGeminiError(failure))}\n\n`,
};

function readGeminiAnswer(answer: JsonObject, upstream: UpstreamContext): Answer {
  if (!Array.isArray(answer["candidates"]) && objectOf(answer["promptFeedback"]) === undefined) {
    throw new GatewayError("upstream_invalid_answer", "The upstream's answer has no candidates.");
  }
  return collectAnswer(new GeminiStreamReader(upstream).readWhole(answer));
}
