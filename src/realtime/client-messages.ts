/** The rules for a client's messages: what they add to the next response, and what may not be passed on. */
import { GatewayError, type JsonObject, listOf, objectOf } from "../core/index.ts";
import type { SessionType } from "../providers/index.ts";
import type { Target } from "../routing/index.ts";
import { readClientEvent } from "./events.ts";
import { type SessionWorks, transcriptionModelOf } from "./session-works.ts";

export interface ClientRules {
  works: SessionWorks;
  type: SessionType;
  target: Target;
  /** Whether the client has named the model of the session, or has begun a conversation with it. */
  isModelFixed: boolean;
  /** The model of the session's provider that a name stands for; undefined if there is none. */
  modelOf: (name: string) => string | undefined;
  /** Finds the model of a transcription. Throws a `GatewayError`. */
  resolveTranscription: (model: string) => Target;
}

/** A message to pass on. */
export interface Admitted {
  message: string | Uint8Array;
  /** It must wait for a hold. */
  until: Promise<void> | undefined;
  /** To be called when it is passed on. */
  onSent?: () => void;
}

const MODEL_IS_FIXED = "The model of a session cannot be changed. Open another session for another model.";

/** The error for an event that the gateway refuses, with the id that the client gave it. */
export class RefusedEvent extends GatewayError {
  readonly eventId: string | undefined;

  constructor(eventId: unknown, message: string, param: string) {
    super("validation_failed", message, { param });
    this.eventId = typeof eventId === "string" ? eventId : undefined;
  }
}

/**
 * Reads a client's message and counts what it adds. Throws `RefusedEvent` for an event that must not reach the upstream.
 * The bytes stay the client's own unless a name of a model has a prefix to be removed.
 */
export function admitMessage(rules: ClientRules, message: string | Uint8Array): Admitted {
  const { works } = rules;
  const text = typeof message === "string" ? message : Buffer.from(message).toString("utf8");
  const read = readClientEvent(text);
  if (read.kind === "audio") {
    works.appendAudio(read.base64Bytes);
    return { message, until: works.cover() };
  }
  if (read.kind === "too-complex") throw new RefusedEvent(undefined, "The event has too many values.", "type");
  if (read.kind === "unknown") {
    works.context.addText(text.length);
    return { message, until: works.cover() };
  }
  const { type, event } = read;
  const id = event["event_id"];
  if (read.hasTwins) throw new RefusedEvent(id, "The event has a key twice.", "type");
  switch (type) {
    case "session.update": {
      const session = objectOf(event["session"]) ?? {};
      const edited = updateSession(rules, session, id);
      works.context.addText(text.length);
      return {
        message: edited === session ? message : JSON.stringify({ ...event, session: edited }),
        until: works.cover(),
      };
    }
    case "response.create": {
      const response = objectOf(event["response"]);
      if (response !== undefined) checkResponse(rules, response, id);
      works.context.addItem(undefined, text.length);
      const eventId = typeof id === "string" ? id : `tollgate_${crypto.randomUUID()}`;
      return {
        // Only with an id can an error be known to be this event's.
        message: id === undefined ? `{"event_id":"${eventId}",${text.slice(text.indexOf("{") + 1)}` : message,
        until: both(works.cover(), works.responses?.ahead.reserve()),
        onSent: () => works.requested(eventId),
      };
    }
    case "conversation.item.create":
      works.context.addItem(objectOf(event["item"]), text.length);
      return { message, until: works.cover() };
    case "input_audio_buffer.append":
      // Spelled in an unusual way; its length is at most that of the text.
      works.appendAudio(text.length);
      return { message, until: works.cover() };
    case "input_audio_buffer.clear":
      works.clearAudio();
      return { message, until: undefined };
    default:
      return { message, until: undefined };
  }
}

function both(one: Promise<void> | undefined, other: Promise<void> | undefined): Promise<void> | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Promise.all([one, other]).then(() => undefined);
}

/**
 * Applies a session to the rules: its formats, its transcription. Returns the session for the upstream, the same object if
 * nothing in it had to change.
 */
export function updateSession(rules: ClientRules, session: JsonObject, eventId?: unknown): JsonObject {
  const { type, target, isModelFixed, works } = rules;
  checkBilled(rules, session, eventId, "session");
  let edited = session;
  const { model } = session;
  if (type === "realtime" && model !== undefined && model !== target.model) {
    if (!isModel(rules, model)) throw new RefusedEvent(eventId, MODEL_IS_FIXED, "session.model");
    edited = { ...edited, model: target.model };
  }
  const named = transcriptionModelOf(session);
  const where = "session.audio.input.transcription.model";
  if (type === "transcription" && isModelFixed && typeof named === "string" && !isModel(rules, named)) {
    throw new RefusedEvent(eventId, MODEL_IS_FIXED, where);
  }
  if (named !== undefined) {
    // Its end counts once the upstream has read it: until then, sound that was taken is transcribed.
    const own = named === null ? undefined : isModel(rules, named) ? target.model : withoutPrefix(target, named);
    const isOwnPrice = target.operation.realtime?.readTranscriptionUsage !== undefined;
    if (own !== undefined && isOwnPrice && (type === "realtime" || !isModelFixed))
      transcribe(rules, own, { eventId, where });
    if (own !== undefined && own !== named) edited = withTranscriptionModel(edited, own);
  }
  works.context.configure(session);
  return edited;
}

function transcribe(
  { works, resolveTranscription }: ClientRules,
  model: string,
  { eventId, where }: { eventId: unknown; where: string },
): void {
  try {
    works.transcribe(model, resolveTranscription);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    throw new RefusedEvent(eventId, thrown.message, where);
  }
}

/** Refuses a response of another model, or one that buys what is not reported. */
function checkResponse(rules: ClientRules, response: JsonObject, eventId: unknown): void {
  const { model } = response;
  if (model !== undefined && model !== null && !isModel(rules, model)) {
    throw new RefusedEvent(eventId, MODEL_IS_FIXED, "response.model");
  }
  checkBilled(rules, response, eventId, "response");
}

/** Whether a name, the provider's own or any that resolves to the same target, is the session's model. */
export function isModel({ target, modelOf }: Pick<ClientRules, "target" | "modelOf">, name: unknown): boolean {
  return typeof name === "string" && (name === target.model || modelOf(name) === target.model);
}

function withoutPrefix({ route }: Target, name: string): string {
  const prefix = [route.prefix, ...route.aliases].find((one) => name.startsWith(`${one}/`));
  return prefix === undefined ? name : name.slice(prefix.length + 1);
}

function withTranscriptionModel(session: JsonObject, model: string): JsonObject {
  const flat = objectOf(session["input_audio_transcription"]);
  const audio = objectOf(session["audio"]);
  const input = objectOf(audio?.["input"]);
  const nested = objectOf(input?.["transcription"]);
  if (nested === undefined) return { ...session, input_audio_transcription: { ...flat, model } };
  return { ...session, audio: { ...audio, input: { ...input, transcription: { ...nested, model } } } };
}

/** Refuses what would be billed without being reported, or would reach what others have stored. */
function checkBilled({ target }: ClientRules, fields: JsonObject, eventId: unknown, path: string): void {
  const { operation, model, route } = target;
  for (const [index, each] of listOf(fields["tools"]).entries()) {
    const tool = objectOf(each);
    if (tool === undefined || operation.readTool?.(tool, fields, model) !== undefined) continue;
    const message =
      "Only tools of the types function and mcp are available in sessions, since the provider does not report what others cost.";
    throw new RefusedEvent(eventId, message, `${path}.tools.${index}.type`);
  }
  if (fields["prompt"] !== undefined && fields["prompt"] !== null && !route.sharedStores) {
    throw new RefusedEvent(eventId, "Stored prompts are not available.", `${path}.prompt`);
  }
}
