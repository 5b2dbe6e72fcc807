/** The messages of the WebSocket of Responses (`docs/wire/openai.md`, "Responses over a WebSocket"). */
import { z } from "zod";
import { type JsonEdit, decodeBody, editBytes, parseBody, type ParsedBody } from "../../../bodies/index.ts";
import { errorBody, GatewayError, type JsonObject, objectOf, parseObject } from "../../../core/index.ts";

const turnRequest = z.looseObject({
  type: z.string(),
  model: z.string().optional(),
  stream_id: z.string().min(1).max(256).optional(),
  generate: z.boolean().optional(),
  store: z.boolean().nullish(),
  previous_response_id: z.string().nullish(),
});

/** A turn that a client asks for. */
export interface TurnRequest {
  /** Turns of the same stream follow each other; different ones run side by side. */
  streamId: string | undefined;
  /** Whether the model is asked; otherwise the turn only prepares a later one. */
  generates: boolean;
  /** Whether the response is left to the connection to remember. */
  isUnstored: boolean;
  /** The body of `POST /v1/responses`. */
  body: JsonObject;
  parsed: ParsedBody<z.output<typeof turnRequest>>;
}

/** Fields of the message that the body of `POST /v1/responses` does not have. */
const envelope = ["type", "stream_id", "generate"] as const;

/** Reads a client's message. Throws 422 for anything that is no `response.create`. */
export function readTurn(text: string): TurnRequest {
  const parsed = parseBody(Buffer.from(text), turnRequest, []);
  const { type, stream_id: streamId, generate = true, store } = parsed.body;
  if (type !== "response.create") {
    throw new GatewayError("validation_failed", "type: the only message here is response.create.", { param: "type" });
  }
  const { type: _type, stream_id: _streamId, generate: _generate, ...body } = decodeBody(parsed);
  return { streamId, generates: generate, isUnstored: store === false, body, parsed };
}

/** The bytes of a turn for the pipeline: the client's own, except for the fields that the connection adds or takes away. */
export function bytesOf({ parsed, body: own }: TurnRequest, expanded: JsonObject): Uint8Array {
  const edits: JsonEdit[] = [...envelope.map((remove) => ({ remove })), { set: "stream", value: "true" }];
  if (expanded !== own) {
    edits.push({ set: "input", value: JSON.stringify(expanded["input"]) });
    const base = expanded["previous_response_id"];
    if (typeof base === "string") edits.push({ set: "previous_response_id", value: JSON.stringify(base) });
    else edits.push({ remove: "previous_response_id" });
  }
  return Buffer.concat(editBytes(parsed.bytes, parsed.members, edits));
}

/** The stream that a message names, also of one that is refused otherwise. */
export function streamIdOf(text: string): string | undefined {
  const id = parseObject(text)?.["stream_id"];
  return typeof id === "string" ? id : undefined;
}

/** An event as the message of its stream. */
export function eventMessage(event: string, streamId: string | undefined): string {
  if (streamId === undefined || !event.startsWith("{")) return event;
  return `{"stream_id":${JSON.stringify(streamId)},${event.slice(1)}`;
}

/** The message of an error, in the form that OpenAI's SDK and Codex read. */
export function errorMessage(status: number, error: unknown, streamId: string | undefined): string {
  return eventMessage(JSON.stringify({ type: "error", status, error }), streamId);
}

/** The event that a client of the socket gets for a refusal of the gateway. */
export function refusalMessage(error: GatewayError, requestId: string, streamId: string | undefined): string {
  const body = objectOf(errorBody("openai", error, requestId));
  return answerMessage(error.status, body, streamId);
}

/** An error's body as a message. Clients send everything again after `previous_response_not_found`. */
export function answerMessage(status: number, body: JsonObject | undefined, streamId: string | undefined): string {
  const error = objectOf(body?.["error"]) ?? {
    message: `The upstream answered with ${status}.`,
    type: "upstream_error",
    code: "upstream_invalid_answer",
    param: null,
  };
  if (status === 404 && error["param"] === "previous_response_id") {
    return errorMessage(400, { ...error, code: "previous_response_not_found" }, streamId);
  }
  return errorMessage(status, error, streamId);
}
