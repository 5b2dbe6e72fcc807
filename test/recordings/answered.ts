import type { Dialect, ObservedUsage } from "../../src/core/index.ts";
import {
  chatCodec,
  type ClientContext,
  messagesCodec,
  responsesCodec,
  streamOfAnswer,
  translateStream,
  translations,
  type UpstreamContext,
} from "../../src/dialects/index.ts";
import { bytesOf, type Recording } from "./recordings.ts";
import { saidInChat, saidInChatStream } from "./said-in-chat.ts";
import { saidInMessages, saidInMessagesStream } from "./said-in-messages.ts";
import { saidInResponses, saidInResponsesStream } from "./said-in-responses.ts";
import { parse, type Said } from "./said.ts";
import { operationOf } from "./upstreams.ts";

const wholes = { chat: saidInChat, messages: saidInMessages, responses: saidInResponses };
const streams = { chat: saidInChatStream, messages: saidInMessagesStream, responses: saidInResponsesStream };

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
  request: { stream_options: { include_usage: true } },
  callId: "abc123",
  created: 1_700_000_000,
  inputTokensEstimate: 7,
  requestId: "req_1",
};

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
    const stream = translateStream({ upstream, upstreamContext, client: of, clientContext: client });
    const shown = Buffer.concat([stream.see(bytes), stream.close()]);
    return [streams[dialect](shown.toString("utf8"))];
  }
  const answer = upstream.readAnswer(parse(bytes.toString("utf8")), upstreamContext);
  const whole = parse(of.writeAnswer(answer, client));
  return [wholes[dialect](whole), streams[dialect](streamOfAnswer(answer, of, client))];
}

type ReadUsage = UpstreamContext["readUsage"];

/** The observer of a stream whose bytes pass. */
export const observers = {
  chat: (read: ReadUsage) => chatCodec.observe({ model: modelAsked, messages: [] }, read),
  messages: (read: ReadUsage) => messagesCodec.observe({ model: modelAsked, max_tokens: 1, messages: [] }, read),
  responses: (read: ReadUsage) => responsesCodec.observe({ model: modelAsked, input: [] }, read),
};

/** The basis of a call's charge: if its bytes pass, and if its answer is translated. */
export function usagesOf(recording: Recording): (ObservedUsage | undefined)[] {
  const upstreamContext = contextOf(recording);
  const bytes = bytesOf(recording);
  if (!recording.stream) return [upstreamContext.readUsage(parse(bytes.toString("utf8")))];
  const upstream = translations[recording.dialect];
  const translated = translateStream({ upstream, upstreamContext, client: upstream, clientContext: client });
  const passed = observers[recording.dialect](upstreamContext.readUsage);
  return [passed, translated].map((observer) => {
    observer.see(bytes);
    observer.close?.();
    return observer.usage;
  });
}

export function isTakenForFailure(recording: Recording): boolean {
  return operationOf(recording.upstream, recording.dialect).isFailure(parse(bytesOf(recording).toString("utf8")));
}
