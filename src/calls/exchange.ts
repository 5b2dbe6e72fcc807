/**
 * How one call is told to its upstream, and the answer to its client. Where both speak the same dialect, bytes pass and
 * only the model's name changes; otherwise everything goes through the conversation model.
 */
import {
  bytewise,
  type Dialect,
  editBytes,
  type GatewayError,
  type JsonEdit,
  type JsonObject,
  limits,
  parseObject,
} from "../core/index.ts";
import {
  carriesSeal,
  type ClientContext,
  type DialectCodec,
  estimateTokens,
  type StreamObserver,
  streamOfAnswer,
  translateStream,
  translations,
  type UpstreamContext,
} from "../dialects/index.ts";
import type { Target } from "../routing/index.ts";
import type { ChargeableBody, ChargeableRoute } from "./chargeable-route.ts";
import type { ParsedBody } from "./parse-body.ts";
import type { WholeAnswer } from "./relay-whole.ts";

export interface Exchange {
  /** What the upstream gets. */
  readonly body: Uint8Array | string;
  /** What follows the operation's path; mostly nothing. */
  readonly below: string;
  /** Whether the upstream hears the client's own words: then it hears the client's headers too. */
  readonly passesThrough: boolean;
  /** What an answer's headers say of its body, where that is not the upstream's. */
  readonly headers: Readonly<Record<string, string>>;
  /** Begins to observe a stream, where there can be one. */
  readonly observe: ObserveStream | undefined;
  /** A whole answer as the client gets it. Throws `upstream_invalid_answer`. */
  answer(answer: WholeAnswer): ShownAnswer;
  /** The body of an upstream's error as the client gets it. */
  failure(status: number, body: string): string;
}

/** What reads a stream along. */
interface ObservedStream {
  observer: StreamObserver;
  /** Bytes of an event that the observer gets in one piece. */
  eventBytesMax: number;
  /** Tells the client that its stream broke. */
  errorEvent: (error: GatewayError) => string;
}

/** Begins to observe a stream. */
export type ObserveStream = () => ObservedStream;

export interface ShownAnswer {
  body: Uint8Array | string;
  /** Where it is not what the exchange's headers say. */
  contentType?: string;
  /** The answer as one object in the client's dialect, JSON text. */
  whole: string;
}

/** What an exchange needs to know of its call. */
export interface ExchangeCall<Body extends ChargeableBody> {
  route: ChargeableRoute<Body>;
  target: Target;
  parsed: ParsedBody<Body>;
  requestId: string;
  /** Since the epoch. */
  at: number;
  /** The client's own body, where `parsed` is one that was made from it. */
  request: JsonObject | undefined;
  /** What `parsed` says with all strings decoded, where somebody has it already. */
  decoded?: JsonObject | undefined;
}

/** Throws 422 for what the upstream's dialect has no words for. */
export function openExchange<Body extends ChargeableBody>(call: ExchangeCall<Body>): Exchange {
  const { route, target, parsed } = call;
  const { dialect: codec } = route;
  const { dialect } = target.operation;
  if (codec.dialect === undefined || dialect === undefined) return withoutDialect(call);
  // A signature of another upstream, which the client keeps for it, must not get to this one.
  const passes = dialect === codec.dialect && !carriesSeal(parsed.text);
  return passes ? passedThrough(call, codec) : translated(call, codec.dialect, dialect);
}

function passedThrough<Body extends ChargeableBody>(call: ExchangeCall<Body>, codec: DialectCodec<Body>): Exchange {
  const { target, parsed, requestId } = call;
  const { operation } = target;
  const { body } = parsed;
  return {
    body: editedBytes(call),
    below: "",
    passesThrough: true,
    headers: {},
    observe: () => ({
      observer: codec.observe(body, (event) => operation.readUsage(event)),
      eventBytesMax: codec.eventBytesMax ?? limits.eventBytesMax,
      errorEvent: errorEventOf(codec, requestId),
    }),
    answer: ({ bytes, text }) => ({ body: bytes, whole: text }),
    failure: (_status, text) => text,
  };
}

/** What is no text generation: bytes pass, unless the upstream needs the call in a shape of its own. */
function withoutDialect<Body extends ChargeableBody>(call: ExchangeCall<Body>): Exchange {
  const { target, parsed } = call;
  const { operation, model } = target;
  const reshaped = operation.reshape?.(parseObject(parsed.bytes.toString("utf8")) ?? {}, model);
  return {
    body: reshaped?.body === undefined ? editedBytes(call) : JSON.stringify({ ...reshaped.body, model }),
    below: reshaped?.below ?? "",
    passesThrough: true,
    headers: reshaped === undefined ? {} : { "content-type": "application/json" },
    observe: undefined,
    answer({ bytes, text, answer }) {
      if (reshaped === undefined) return { body: bytes, whole: text };
      const whole = JSON.stringify(reshaped.answer(answer));
      return { body: whole, whole };
    },
    failure: (_status, text) => text,
  };
}

/** The client's own bytes, with the upstream's name of the model and its edits. They are used up. */
function editedBytes<Body extends ChargeableBody>({ target, parsed }: ExchangeCall<Body>): Uint8Array {
  const model = { set: "model", value: bytewise(JSON.stringify(target.model)) };
  return editBytes(parsed.bytes, parsed.text, parsed.members, [model, ...target.operation.edits(parsed.body)]);
}

/** Unique to the call, letters and digits alone. */
export function callIdOf(requestId: string): string {
  return requestId.replace(/^req_/, "");
}

/** A closure of its own, which doesn't keep the body in memory for as long as a stream is open. */
function errorEventOf<Body>(codec: DialectCodec<Body>, requestId: string) {
  return (error: GatewayError): string => codec.errorEvent(error, requestId);
}

function translated<Body extends ChargeableBody>(call: ExchangeCall<Body>, from: Dialect, to: Dialect): Exchange {
  const { target, parsed, requestId, at } = call;
  const { operation, model } = target;
  const client = translations[from];
  const upstream = translations[to];
  const asked = call.decoded ?? parseObject(parsed.bytes.toString("utf8")) ?? {};
  const conversation = client.readRequest(asked);
  const facts = operation.facts?.(model) ?? {};
  const origin = target.route.prefix;
  const outputTokensMax = target.price.maxOutputTokens;
  const written = upstream.writeRequest(conversation, { ...facts, model, origin, outputTokensMax });
  const callId = callIdOf(requestId);
  const { thinkTags } = facts;
  const { stream } = conversation;
  const readUsage = (answer: JsonObject) => operation.readUsage(answer);
  const upstreamContext: UpstreamContext = { origin, callId, model, readUsage, thinkTags };
  const clientContext: ClientContext = {
    request: call.request ?? asked,
    callId,
    created: Math.floor(at / 1_000),
    inputTokensEstimate: estimateTokens(conversation),
    requestId,
  };
  return {
    body: JSON.stringify(editValue(written, operation.edits(written))),
    below: "",
    passesThrough: false,
    headers: { "content-type": "application/json" },
    observe() {
      const observer = translateStream({ upstream, upstreamContext, client, clientContext });
      return { observer, eventBytesMax: limits.eventBytesMax, errorEvent: (error) => observer.fail(error) };
    },
    answer({ answer }) {
      const read = upstream.readAnswer(answer, upstreamContext);
      const whole = client.writeAnswer(read, clientContext);
      if (!stream) return { body: whole, whole };
      // The upstream knows no streams, or not here.
      return { body: streamOfAnswer(read, client, clientContext), contentType: "text/event-stream", whole };
    },
    failure: (status, text) => client.writeFailure(upstream.readFailure(status, text), requestId),
  };
}

/** The edits of an upstream's operation, on a body that was made here. */
function editValue(body: JsonObject, edits: readonly JsonEdit[]): JsonObject {
  const edited: Record<string, unknown> = { ...body };
  for (const edit of edits) {
    if ("set" in edit) edited[edit.set] = JSON.parse(edit.value);
    else if ("remove" in edit) delete edited[edit.remove];
    else if (edit.rename in edited) {
      edited[edit.to] = edited[edit.rename];
      delete edited[edit.rename];
    }
  }
  return edited;
}
