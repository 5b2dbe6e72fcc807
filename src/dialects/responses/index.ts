import { limits, objectOf } from "../../core/index.ts";
import { askedFeatures } from "../asked-features.ts";
import type { TextCodec } from "../codec.ts";
import { generatedBytes, generatedKeys } from "../generated-bytes.ts";
import { failureOf } from "../conversation/index.ts";
import { askedParts } from "./asked-parts.ts";
import { boundResponses, opaqueFields } from "./bound.ts";
export { imageTypeOf } from "./requests/read-items.ts";
export { readResponsesRequest } from "./requests/read-request.ts";
export { ResponsesStreamWriter } from "./answers/stream-writer.ts";
import { ResponsesStreamObserver } from "./observe-stream.ts";
import type { ResponsesRequest } from "./request.ts";
import { responsesTranslation } from "./translation.ts";
import { responsesObjects } from "./stored-objects.ts";

export { foundBySearch, isInContainer } from "./client-tools.ts";
export { queuedResponse } from "./answers/response-object.ts";
export { boundItems } from "./bound.ts";
export { inputItems, isOwnRun, itemsOfMakers, referencedItems } from "./kept-items.ts";
export { inConversation, streamInConversation } from "./shown-conversation.ts";
export { countResponseTokensRequest, type ResponsesRequest, responsesRequest } from "./request.ts";

export { responsesTranslation };

/** Text, thoughts, refusals, arguments, and the input of a tool that accepts text. */
const outputKeys = generatedKeys(["text", "refusal", "arguments", "input"], ["results", "tools"]);

/** OpenAI Responses. */
export const responsesCodec: TextCodec<ResponsesRequest> = {
  dialect: "responses",
  objects: responsesObjects,
  asks: (body, origin) => {
    const [format, effort] = [objectOf(body["text"])?.["format"], objectOf(body["reasoning"])?.["effort"]];
    return [...askedFeatures({ format, effort }), ...askedParts(body, origin)];
  },
  measured: opaqueFields,
  misfits: () => false,
  bound: boundResponses,
  observe: (_body, readUsage) => new ResponsesStreamObserver(readUsage),
  outputBytes: (answer) => generatedBytes(Buffer.from(answer), outputKeys),
  eventBytesMax: limits.wholeEventBytesMax,
  errorEvent: (error, requestId) => responsesTranslation.writeFailureEvent(failureOf(error), requestId),
};
