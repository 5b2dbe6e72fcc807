/**
 * The exchange of a call that generates no text: bytes pass through, unless the upstream needs the call in its own
 * format.
 */
import { decodeBody, type ReceivedBody } from "../bodies/index.ts";
import { type WorkBound, type JsonObject, objectOf, type RandomBytes } from "../core/index.ts";
import { readOpenaiFailure, writeOpenaiError } from "../dialects/index.ts";
import type { MediaCodec, MediaEvents } from "../media/index.ts";
import type { CallInput, BinaryAnswer, UpstreamRequestBody, UpstreamRequests } from "../providers/index.ts";
import type { Target } from "../routing/index.ts";
import type { WholeAnswer, UpstreamBody } from "../sending/index.ts";
import { EVENT_STREAM, type StreamObserver } from "../streaming/index.ts";
import type { ChargeableBody } from "./chargeable-route.ts";
import { editedBytes, editedForm } from "./edit-body.ts";
import { type Exchange, type ObservedStream, type ClientAnswer, type ExchangeRequest } from "./exchange.ts";

/** The parts of a call that a media exchange needs. */
export interface MediaCall<Body extends ChargeableBody> {
  target: Target;
  received: ReceivedBody<Body>;
  bound: WorkBound;
  /** In milliseconds since the epoch. */
  at: number;
  randomBytes: RandomBytes;
  /** Whether its client is one of OpenAI's SDKs, which know OpenAI's events and answers alone. */
  isForOpenai: boolean;
}

const JSON_TYPE = { "content-type": "application/json" };

/** Throws 422 for a field that the upstream cannot express. */
export async function openMediaExchange<Body extends ChargeableBody>(
  call: MediaCall<Body>,
  codec: MediaCodec<Body>,
): Promise<Exchange> {
  const { target, received, bound } = call;
  const { operation, model } = target;
  const { body } = received;
  const reshaped = await operation.toUpstream?.(inputOf(received), model);
  const { events, observeBytes } = codec;
  const requests: ReturnType<Exchange["requests"]> =
    reshaped === undefined ? [{ subpath: "", body: ownBody(call) }] : requestsOf(call, reshaped);
  return {
    requests: () => requests,
    output: undefined,
    extras: operation.extras?.(objectOf(body) ?? {}, model),
    // A converted call does not use the upstream's dialect, nor does a failure with a success status.
    passesThrough: reshaped === undefined,
    streamed: body.stream === true && reshaped?.answer === undefined,
    headers: reshaped?.answer === undefined ? undefined : JSON_TYPE,
    observe: events && (() => observeEvents(events, call)),
    observeBytes: observeBytes && (() => ({ observer: observeBytes(body, bound), events: undefined })),
    answer: (answers) => jsonAnswer(codec, call, reshaped, answers),
    outputBytes: (answer) => codec.outputBytes(answer),
    failure: (status, text) => (reshaped?.answer === undefined ? text : openaiError(status, text)),
  };
}

/** A failure in an upstream's own format. The routes without dialects have OpenAI's. */
function openaiError(status: number, text: string): string {
  return JSON.stringify(writeOpenaiError(readOpenaiFailure(status, text)));
}

function observeEvents<Body extends ChargeableBody>(events: MediaEvents<Body>, call: MediaCall<Body>): ObservedStream {
  const { target, received, bound } = call;
  const { operation } = target;
  const { body } = received;
  const own = events.observe(body, (event) => operation.readUsage(event), bound);
  const observer = (needsOpenai(call) ? events.forOpenai?.(own, body) : undefined) ?? own;
  return { observer, events: { bytesMax: events.eventBytesMax, errorEvent: events.errorEvent } };
}

/** Whether the provider's answer would surprise the client. */
function needsOpenai({ isForOpenai, target }: Pick<MediaCall<ChargeableBody>, "isForOpenai" | "target">): boolean {
  return isForOpenai && target.operation.failsByImage === true;
}

/** A form's fields have already been converted by its schema. */
function inputOf<Body extends ChargeableBody>(received: ReceivedBody<Body>): CallInput {
  if (received.kind === "form") return { body: received.body, files: received.files };
  return { body: decodeBody(received), files: [] };
}

function requestsOf<Body extends ChargeableBody>(
  call: MediaCall<Body>,
  { requests: [first, ...others] }: UpstreamRequests,
): [ExchangeRequest, ...ExchangeRequest[]] {
  const share = others.length === 0 ? (body: UpstreamBody): UpstreamBody => body : shared;
  const made = new Map<UpstreamRequestBody, ExchangeRequest>();
  const requestOf = (each: UpstreamRequestBody): ExchangeRequest => {
    const request = made.get(each) ?? { subpath: each.subpath ?? "", body: share(bodyOf(call, each)) };
    made.set(each, request);
    return request;
  };
  return [requestOf(first), ...others.map(requestOf)];
}

/** A text of tens of megabytes is serialized once, not for each of ten requests. */
function shared(body: UpstreamBody): UpstreamBody {
  return typeof body === "string" ? new Blob([body]) : body;
}

function bodyOf<Body extends ChargeableBody>(call: MediaCall<Body>, { json, form }: UpstreamRequestBody): UpstreamBody {
  const { received, target, randomBytes } = call;
  if (json !== undefined) return JSON.stringify("model" in json ? { ...json, model: target.model } : json);
  if (form === undefined) return ownBody(call);
  if (received.kind !== "form") throw new Error(`${target.route.prefix} makes a form of a call that was none`);
  const fields = form.map((field) =>
    "text" in field ? field : { name: field.name, file: received.partOf(field.file) },
  );
  return received.form.composed(fields, randomBytes);
}

function ownBody<Body extends ChargeableBody>({ target, received }: MediaCall<Body>): UpstreamBody {
  if (received.kind === "form") return editedForm(target, received.form, received.body);
  return editedBytes(target, received);
}

function jsonAnswer<Body extends ChargeableBody>(
  codec: MediaCodec<Body>,
  call: MediaCall<Body>,
  reshaped: UpstreamRequests | undefined,
  answers: readonly [WholeAnswer, ...WholeAnswer[]],
): ClientAnswer {
  const { received, bound, at } = call;
  const { body } = received;
  const [{ bytes, text, answer: own }] = answers;
  const split = (whole: JsonObject): JsonObject =>
    (needsOpenai(call) ? codec.withoutFailures?.(whole) : undefined) ?? whole;
  if (reshaped?.answer === undefined) {
    const counted = codec.counted?.(body, own, bound);
    const shown = split(own);
    if (shown === own) return { body: bytes, whole: text, counted };
    const whole = JSON.stringify(shown);
    return { body: whole, whole, counted };
  }
  const made = reshaped.answer(
    answers.map((each) => each.answer),
    Math.floor(at / 1_000),
  );
  const answer = isRaw(made) ? made : split(made);
  if (isRaw(answer)) {
    const observer = answers[0].usage === undefined ? codec.observeBytes?.(body, bound) : undefined;
    return binaryAnswer(answer, observer);
  }
  const whole = JSON.stringify(answer);
  const counted = codec.counted?.(body, answer, bound);
  // The upstream does not stream this operation.
  if (body.stream === true && codec.events !== undefined) {
    return { body: codec.events.ofAnswer(body, answer), contentType: EVENT_STREAM, whole, counted };
  }
  return { body: whole, whole, counted };
}

/** `observer` measures the bytes if the upstream reports no usage. */
function binaryAnswer({ bytes, contentType }: BinaryAnswer, observer: StreamObserver | undefined): ClientAnswer {
  observer?.see(Buffer.from(bytes));
  return { body: bytes, contentType, whole: "", counted: observer?.usage };
}

function isRaw(answer: JsonObject | BinaryAnswer): answer is BinaryAnswer {
  return answer["bytes"] instanceof Uint8Array;
}
