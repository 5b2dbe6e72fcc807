import { errorBody, objectOf } from "../../core/index.ts";
import { askedFeatures } from "../asked-features.ts";
import type { TextCodec } from "../codec.ts";
import { askedParts } from "./asked-parts.ts";
import { writtenBytes } from "./calls.ts";
import { boundMessages, opaqueFields } from "./bound.ts";
import { misfitsMessages } from "./misfits.ts";
import { MessagesStreamObserver } from "./observe-stream.ts";
import type { MessagesRequest } from "./request.ts";
import { messagesObjects } from "./stored-objects.ts";

export { countTokensRequest, type MessagesRequest, messagesRequest } from "./request.ts";
export { textOfHosted } from "./hosted-blocks.ts";
export { misfitsMessages };
export { ownResultStart, packResult, unpackResult } from "./own-results.ts";
export { messagesReferences } from "./stored-objects.ts";
export { readErrorEvent } from "./answers/failures.ts";
export { messagesTranslation } from "./translation.ts";

/** Anthropic Messages. */
export const messagesCodec: TextCodec<MessagesRequest> = {
  dialect: "messages",
  objects: messagesObjects,
  asks: (body, origin) => {
    const { format, effort } = objectOf(body["output_config"]) ?? {};
    return [...askedFeatures({ format, effort }), ...askedParts(body, origin)];
  },
  measured: opaqueFields,
  misfits: misfitsMessages,
  bound: boundMessages,
  observe: (_body, readUsage) => new MessagesStreamObserver(readUsage),
  outputBytes: writtenBytes,
  errorEvent: (error, requestId) =>
    `event: error\ndata: ${JSON.stringify(errorBody("anthropic", error, requestId))}\n\n`,
};

export { comparesModels, streamUnderModel, underModel } from "./shown-model.ts";
