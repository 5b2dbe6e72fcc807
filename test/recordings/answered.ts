import { resolveUsage } from "../../src/charges/index.ts";
import type { Dialect, ObservedUsage } from "../../src/core/index.ts";
import {
  chatCodec,
  type ClientContext,
  geminiCodec,
  messagesCodec,
  outputBytesIn,
  responsesCodec,
  streamOfAnswer,
  translateStream,
  translations,
  type UpstreamContext,
} from "../../src/dialects/index.ts";
import { PriceBook } from "../../src/pricing/index.ts";
import type { ChargedUsage } from "../../src/streaming/index.ts";
import { bytesOf, type Recording } from "./recordings.ts";
import { saidInChat, saidInChatStream } from "./said-in-chat.ts";
import { saidInGemini, saidInGeminiStream } from "./said-in-gemini.ts";
import { saidInMessages, saidInMessagesStream } from "./said-in-messages.ts";
import { saidInResponses, saidInResponsesStream } from "./said-in-responses.ts";
import { parse, type Said } from "./said.ts";
import { operationOf } from "./upstreams.ts";

export const wholes = { chat: saidInChat, messages: saidInMessages, responses: saidInResponses, gemini: saidInGemini };
export const streams = {
  chat: saidInChatStream,
  messages: saidInMessagesStream,
  responses: saidInResponsesStream,
  gemini: saidInGeminiStream,
};

/** The configured prefix of the recording's upstream, which marks its signatures. */
export const originOf = ({ upstream }: Recording): string => `the-${upstream}`;

const modelAsked = "model-asked";

/** The upstream's content, read from the recorded bytes. An answer without a model has the requested one. */
export function saidBy(recording: Recording): Said {
  const bytes = bytesOf(recording).toString("utf8");
  const said = recording.stream ? streams[recording.dialect](bytes) : wholes[recording.dialect](parse(bytes));
  return { ...said, model: said.model ?? modelAsked };
}

export function contextOf(recording: Recording): UpstreamContext {
  const { upstream, dialect } = recording;
  const operation = operationOf(upstream, dialect);
  const facts = operation.facts?.(recording.model ?? modelAsked);
  return {
    origin: originOf(recording),
    callId: "c0ffee",
    model: modelAsked,
    readUsage: (answer) => operation.readUsage(answer),
    thinkTags: facts?.thinkTags,
    reasoningField: facts?.reasoningField,
  };
}

export const client: ClientContext = {
  // Asks for thoughts in Gemini.
  request: {
    stream_options: { include_usage: true },
    generationConfig: { thinkingConfig: { includeThoughts: true } },
  },
  callId: "abc123",
  created: 1_700_000_000,
  inputTokensEstimate: 7,
  requestId: "req_1",
};

const prices = new PriceBook({
  operatorPrices: { "*": { input_mtok: 1, output_mtok: 2 } },
  unpriced: "refuse",
  clock: () => 0,
});

/** The usage that a short request with this answer is charged for: every honest count must stand. */
function chargedFor(told: ObservedUsage | undefined, outputBytes: number): ObservedUsage {
  const price = prices.lookup({ id: "any/model", model: "model", priceProvider: undefined });
  if (price === undefined) throw new Error("no price");
  const order = { price, bound: { inputTokens: 40, outputTokens: 4_096, choices: 1 } };
  return resolveUsage({ order }, { upstream: told, outputBytes: () => outputBytes });
}

const charged: ChargedUsage = (told, outputBytes) => chargedFor(told, outputBytes).usage;

/**
 * The content for a client of this dialect, read from its bytes: of a stream as a stream, of a whole answer both ways,
 * because a client may request a stream from an upstream without streams.
 */
export function answersTo(dialect: Dialect, recording: Recording): Said[] {
  const upstreamContext = contextOf(recording);
  const upstream = translations[recording.dialect];
  const of = translations[dialect];
  const bytes = bytesOf(recording);
  if (recording.stream) {
    const stream = translateStream({ upstream, upstreamContext, client: of, clientContext: client, charged });
    const shown = Buffer.concat([stream.see(bytes), stream.close()]);
    return [streams[dialect](shown.toString("utf8"))];
  }
  const text = bytes.toString("utf8");
  const usage = charged(upstreamContext.readUsage(parse(text)), outputBytesIn[recording.dialect](text));
  const answer = { ...upstream.readAnswer(parse(text), upstreamContext), usage };
  const whole = parse(of.writeAnswer(answer, client));
  return [wholes[dialect](whole), streams[dialect](streamOfAnswer(answer, of, client))];
}

type ReadUsage = UpstreamContext["readUsage"];

/** The observer of a stream whose bytes pass. */
export const observers = {
  chat: (read: ReadUsage) => chatCodec.observe({ model: modelAsked, messages: [] }, read),
  messages: (read: ReadUsage) => messagesCodec.observe({ model: modelAsked, max_tokens: 1, messages: [] }, read),
  gemini: (read: ReadUsage) => geminiCodec.observe({ model: modelAsked, contents: [] }, read),
  responses: (read: ReadUsage) => responsesCodec.observe({ model: modelAsked, input: [] }, read),
};

/** The basis of a call's charge: if its bytes pass, and if its answer is translated. */
export function usagesOf(recording: Recording): (ObservedUsage | undefined)[] {
  const upstreamContext = contextOf(recording);
  const bytes = bytesOf(recording);
  if (!recording.stream) {
    const text = bytes.toString("utf8");
    const told = upstreamContext.readUsage(parse(text));
    return [chargedOr(told, outputBytesIn[recording.dialect](text))];
  }
  const upstream = translations[recording.dialect];
  const translated = translateStream({
    upstream,
    upstreamContext,
    client: upstream,
    clientContext: client,
    charged,
  });
  const passed = observers[recording.dialect](upstreamContext.readUsage);
  return [passed, translated].map((observer) => {
    observer.see(bytes);
    observer.close?.();
    return chargedOr(observer.usage, observer.outputBytes);
  });
}

/** Undefined if nothing at all is counted: the recording then has no usage to compare with. */
function chargedOr(told: ObservedUsage | undefined, outputBytes: number): ObservedUsage | undefined {
  return told && chargedFor(told, outputBytes);
}

export function isTakenForFailure(recording: Recording): boolean {
  return operationOf(recording.upstream, recording.dialect).isFailure(parse(bytesOf(recording).toString("utf8")));
}
