/** Recorded requests of SDKs and agents with some of their bytes changed, read and written for upstreams of each dialect. */
import fc from "fast-check";
import { decodeBody, parseBody } from "../../src/bodies/index.ts";
import { GatewayError } from "../../src/core/index.ts";
import {
  chatCodec,
  chatRequest,
  geminiCodec,
  geminiRequest,
  messagesCodec,
  messagesRequest,
  responsesCodec,
  responsesRequest,
  translations,
} from "../../src/dialects/index.ts";
import { requests as recorded } from "../recordings/recordings.ts";
import { mutate, mutations } from "./mutations.ts";
import { fuzzTarget } from "./target.ts";

/** The bound of a body, and its bytes without a byte order mark. */
const readers = {
  chat: (received: Buffer) => {
    const { body, sizeOf, bytes } = parseBody(received, chatRequest, chatCodec.measured);
    return { bound: chatCodec.bound(body, sizeOf), bytes };
  },
  messages: (received: Buffer) => {
    const { body, sizeOf, bytes } = parseBody(received, messagesRequest, messagesCodec.measured);
    return { bound: messagesCodec.bound(body, sizeOf), bytes };
  },
  gemini: (received: Buffer) => {
    const { body, sizeOf, bytes } = parseBody(received, geminiRequest, geminiCodec.measured);
    return { bound: geminiCodec.bound(body, sizeOf), bytes };
  },
  responses: (received: Buffer) => {
    const { body, sizeOf, bytes } = parseBody(received, responsesRequest, responsesCodec.measured);
    return { bound: responsesCodec.bound(body, sizeOf), bytes };
  },
};

const target = { model: "m", origin: "the-upstream" };

export const requests = fuzzTarget(
  "requests",
  fc.property(
    fc.constantFrom(...recorded),
    mutations,
    fc.constantFrom("chat", "messages", "responses", "gemini"),
    ({ dialect, body }, applied, to) => {
      try {
        const { bound, bytes } = readers[dialect](mutate(Buffer.from(JSON.stringify(body)), applied));
        for (const count of [bound.inputTokens, bound.choices, ...Object.values(bound.expectedInput ?? {})]) {
          if (!(Number.isSafeInteger(count) && count >= 0)) throw new Error(`a bound of ${count}`);
        }
        const conversation = translations[dialect].readRequest(decodeBody({ bytes }));
        translations[to].writeRequest(conversation, target);
      } catch (error) {
        if (!(error instanceof GatewayError) || error.status !== 422) throw error;
      }
    },
  ),
);
