/**
 * The exchange of a call that generates text. If client and upstream use the same dialect, bytes pass through and only
 * the model's name changes; otherwise everything is translated through the conversation model.
 */
import { decodeBody, type ParsedBody, repeatsKey } from "../bodies/index.ts";
import {
  type Dialect,
  type FactName,
  GatewayError,
  type JsonObject,
  limits,
  type ModelFacts,
  objectOf,
  parseObject,
} from "../core/index.ts";
import {
  answersInParts,
  callingTool,
  collectThoughts,
  fitToolNames,
  forcedAnswer,
  hasTaggedSignature,
  leaveOutHostedTools,
  namingTools,
  plainContent,
  plainContentStream,
  readsContentParts,
  inConversation,
  streamInConversation,
  streamUnderModel,
  watchThoughts,
  regularChatStream,
  stoppingAt,
  restoringTools,
  singleRoleStream,
  underModel,
  substituteTools,
  withToolsInEffect,
  type ClientContext,
  type Conversation,
  type DialectTranslation,
  type TextCodec,
  estimateTokens,
  outputBytesIn,
  streamOfAnswer,
  translateStream,
  translations,
  type UpstreamContext,
  withFetchedImages,
  withOwnTools,
  withThoughtsOfCalls,
} from "../dialects/index.ts";
import type { RequestedExtras, UpstreamOperation } from "../providers/index.ts";
import { type OfferedTools, offeredTools, type Target } from "../routing/index.ts";
import type { WholeAnswer } from "../sending/index.ts";
import { type ChargedUsage, EVENT_STREAM, type StreamObserver } from "../streaming/index.ts";
import type { ChargeableBody } from "./chargeable-route.ts";
import { editedBytes, editValue, factsOfEdits, withChanges, withDecidedTools } from "./edit-body.ts";
import type { BodyPreparation } from "./preparation/prepare-body.ts";
import { type ClientAnswer, type Exchange, type ObservedStream, type RequestedOutput } from "./exchange.ts";

/** The parts of a call that a text exchange needs. */
export interface TextCall<Body extends ChargeableBody> extends BodyPreparation {
  target: Target;
  parsed: ParsedBody<Body>;
  requestId: string;
  /** In milliseconds since the epoch. */
  at: number;
  /** The client's own body, if `parsed` was created from it. */
  request: JsonObject | undefined;
  /** The model's name that the answer must have, for a client that compares it. */
  shownModel?: string | undefined;
  /** The gateway's own conversation that the answer belongs to. */
  conversationId?: string | undefined;
  /** The ids of the input's items that other providers made, and that this one cannot read; undefined if there are none. */
  foreignIds?: ReadonlySet<string> | undefined;
  /** The client's headers, for what depends on its SDK. */
  headers?: Headers | undefined;
  /** `parsed` with all strings decoded, if available already. */
  decoded?: JsonObject | undefined;
}

/** Throws 422 for a field that the upstream's dialect cannot express. */
export function openTextExchange<Body extends ChargeableBody>(call: TextCall<Body>, codec: TextCodec<Body>): Exchange {
  const { target, parsed } = call;
  const { dialect } = target.operation;
  if (dialect === undefined) throw new Error(`an operation of ${target.route.prefix} has no dialect`);
  return passesThrough(target, parsed, codec) ? new PassedThrough(call, codec) : translated(call, codec, dialect);
}

/** Whether the upstream gets the client's own bytes. */
export function passesThrough<Body>(
  { operation, model }: Target,
  parsed: ParsedBody<Body>,
  codec: TextCodec<Body>,
): boolean {
  // A signature of another upstream, which the client stores for it, must not reach this one.
  return (
    operation.dialect === codec.dialect &&
    !mustTranslate(operation, parsed, model) &&
    !hasTaggedSignature(parsed, codec.dialect)
  );
}

/** Whether a body of the operation's own dialect is translated nevertheless. */
export function mustTranslate(operation: UpstreamOperation, parsed: ParsedBody<unknown>, model: string): boolean {
  const body = objectOf(parsed.body) ?? {};
  if (operation.needsTranslation?.(body, model) === true) return true;
  return operation.takesKeysOnce === true && repeatsKey({ body, innerKeys: parsed.innerKeys });
}

/** Whether a body keeps its bytes up to single members. */
export function keepsBytes<Body>(target: Target, parsed: ParsedBody<Body>, codec: TextCodec<Body>): boolean {
  return passesThrough(target, parsed, codec) && !misfits(target, parsed, codec);
}

function misfits<Body>({ operation, model }: Target, { body }: ParsedBody<Body>, codec: TextCodec<Body>): boolean {
  const facts = operation.facts?.(model);
  return facts !== undefined && codec.misfits(body, facts);
}

/**
 * The request rewritten for its model; the answer's bytes still pass. Undefined if the gateway cannot read it: then the
 * upstream gets it as it is.
 */
function rewrittenRequest<Body extends ChargeableBody>(
  call: TextCall<Body>,
  { dialect }: TextCodec<Body>,
): TranslatedRequest | undefined {
  const { target, parsed } = call;
  try {
    const conversation = call.conversation ?? translations[dialect].readRequest(call.decoded ?? decodeBody(parsed));
    return new TranslatedRequest(target, dialect, conversation, call);
  } catch (thrown) {
    // An item of another provider would be refused there with less reason.
    if (thrown instanceof GatewayError && call.foreignIds === undefined) return undefined;
    throw thrown;
  }
}

/** One object per call, because most calls pass through. */
class PassedThrough<Body extends ChargeableBody> implements Exchange {
  readonly output: RequestedOutput;
  readonly extras: RequestedExtras | undefined;
  readonly passesThrough = true;
  readonly streamed: boolean;
  headers: Exchange["headers"];
  readonly observeBytes = undefined;
  /** The request, if it did not fit its model. */
  readonly #rewritten: TranslatedRequest | undefined;
  readonly #tools: OfferedTools | undefined;
  /** The content of the answer becomes a text if it is a list. */
  readonly #isPlain: boolean;
  readonly #call: TextCall<Body>;
  readonly #codec: TextCodec<Body>;

  constructor(call: TextCall<Body>, codec: TextCodec<Body>) {
    const { target, parsed } = call;
    this.output = requestedOutput(target, parsed.body);
    this.#tools = parsed.body["tools"] === undefined ? undefined : offeredTools(target, parsed.body);
    this.extras = extrasOf(target, parsed.body, this.#tools);
    this.headers = this.#tools && droppedTools(this.#tools.leftNames);
    this.streamed = parsed.body.stream === true;
    const isRewritten =
      call.lostThoughts !== undefined || call.foreignIds !== undefined || misfits(target, parsed, codec);
    this.#rewritten = isRewritten ? rewrittenRequest(call, codec) : undefined;
    this.#isPlain = getsPlainContent(call);
    this.#call = call;
    this.#codec = codec;
  }

  requests(outputTokens?: number, runs?: number): ReturnType<Exchange["requests"]> {
    const { target, parsed } = this.#call;
    if (this.#rewritten !== undefined) {
      const body = this.#rewritten.take(outputTokens, runs);
      this.headers = withChanges(this.headers, this.#withAnswer(this.#rewritten.changes));
      return [{ subpath: subpathOf(target, this.streamed), body }];
    }
    const edits = target.operation.edits(parsed.body, target.model);
    const changes = this.#withAnswer(factsOfEdits(edits));
    if (changes !== undefined) this.headers = withChanges(this.headers, changes);
    const tools = this.#tools && { ...this.#tools, runs };
    const body = editedBytes(target, parsed, { outputTokens, tools }, edits);
    return [{ subpath: subpathOf(target, this.streamed), body }];
  }

  /** The answer is changed too if it will be a list. Headers name that before a stream begins. */
  #withAnswer(changes: Set<FactName> | undefined): Set<FactName> | undefined {
    const { target, parsed } = this.#call;
    if (!this.#isPlain || !answersInParts(parsed.body, target.operation.facts?.(target.model) ?? {})) return changes;
    return new Set<FactName>(changes).add("answer");
  }

  observe(charged: ChargedUsage): ObservedStream {
    const codec = this.#codec;
    const { parsed, target, requestId } = this.#call;
    const { operation } = target;
    const observer = codec.observe(parsed.body, (event) => operation.readUsage(event), charged);
    return {
      observer: this.#shown(this.#regular(observer, charged)),
      events: { bytesMax: codec.eventBytesMax ?? limits.eventBytesMax, errorEvent: errorEventOf(codec, requestId) },
    };
  }

  #regular(observer: StreamObserver, charged: ChargedUsage): StreamObserver {
    const { target, parsed, answerThoughts } = this.#call;
    if (answerThoughts !== undefined) watchThoughts(observer, answerThoughts);
    if (target.operation.repeatsRole === true) singleRoleStream(observer);
    if (this.#isPlain) plainContentStream(observer);
    if (target.operation.hasIrregularStream !== true) return observer;
    const options = objectOf(objectOf(parsed.body)?.["stream_options"]);
    return regularChatStream(observer, options?.["include_usage"] === true ? charged : undefined);
  }

  #shown(observer: StreamObserver): StreamObserver {
    const { shownModel, conversationId } = this.#call;
    if (conversationId !== undefined) return streamInConversation(observer, conversationId);
    return shownModel === undefined ? observer : streamUnderModel(observer, shownModel);
  }

  answer({ 0: { bytes, text } }: readonly [WholeAnswer, ...WholeAnswer[]]): ClientAnswer {
    const { shownModel, conversationId, answerThoughts } = this.#call;
    if (answerThoughts !== undefined) collectThoughts(parseObject(text) ?? {}, answerThoughts);
    if (conversationId !== undefined) {
      const body = inConversation(text, conversationId);
      return { body, whole: body };
    }
    if (this.#isPlain) {
      const plain = plainContent(text);
      return plain === undefined ? { body: bytes, whole: text } : { body: plain, whole: plain };
    }
    if (shownModel === undefined) return { body: bytes, whole: text };
    const whole = underModel(text, shownModel);
    return { body: whole, whole };
  }

  outputBytes(answer: string): number {
    return this.#codec.outputBytes(answer);
  }

  failure(_status: number, body: string): string {
    return body;
  }
}

/** Whether a list of parts as content is too much for the client. */
function getsPlainContent({
  target: { operation, model },
  headers,
}: Pick<TextCall<ChargeableBody>, "target" | "headers">): boolean {
  return (
    operation.facts?.(model).showsThoughtParts !== undefined && (headers === undefined || !readsContentParts(headers))
  );
}

function requestedOutput({ operation: { outputLimit }, model }: Target, body: JsonObject): RequestedOutput {
  return {
    hidesThought: outputLimit?.hidesThought(model, body) ?? true,
    isAnswerOnly: outputLimit?.isAnswerOnly?.(body) ?? false,
  };
}

/** The billed extras of a body, its tools included; undefined if there are none. */
function extrasOf(
  { operation, model }: Target,
  body: JsonObject,
  tools: OfferedTools | undefined,
): RequestedExtras | undefined {
  const extras = operation.extras?.(body, model);
  return tools === undefined ? extras : { ...extras, ...tools.extras };
}

/** The header that names the tools that the upstream does not get; undefined if there are none. */
function droppedTools(names: readonly string[]): Exchange["headers"] {
  return names.length === 0 ? undefined : { "x-tollgate-dropped-tools": names.join(", ") };
}

function subpathOf({ operation, model }: Target, streamed: boolean): string {
  return operation.subpath?.(model, streamed) ?? "";
}

/** Unique to the call; letters and digits only. */
export function callIdOf(requestId: string): string {
  return requestId.replace(/^req_/, "");
}

/** A separate closure, which does not keep the body in memory while a stream is open. */
function errorEventOf<Body>(codec: TextCodec<Body>, requestId: string) {
  return (error: GatewayError): string => codec.errorEvent(error, requestId);
}

/** A request written for its upstream. It is released once it has been taken, because a stream may stay open for long. */
class TranslatedRequest {
  readonly #target: Target;
  readonly #dialect: Dialect;
  /** The purchases of its tools; undefined if there are none. */
  readonly tools: OfferedTools | undefined;
  /** The reasons why it was changed. */
  readonly changes = new Set<FactName>();
  readonly #foreignIds: ReadonlySet<string> | undefined;
  #conversation: Conversation | undefined;
  #body: JsonObject | undefined;

  /** Throws 422 for a field that the upstream's dialect cannot express, or a demanded tool without a price. */
  constructor(
    target: Target,
    dialect: Dialect,
    asked: Conversation,
    { images, lostThoughts, foreignIds }: BodyPreparation & Pick<TextCall<ChargeableBody>, "foreignIds">,
  ) {
    let conversation = asked;
    if (images !== undefined) {
      conversation = withFetchedImages(conversation, images);
      this.changes.add("images");
    }
    if (lostThoughts !== undefined) {
      conversation = withThoughtsOfCalls(conversation, lostThoughts);
      this.changes.add("thoughts");
    }
    this.#target = target;
    this.#dialect = dialect;
    this.#foreignIds = foreignIds;
    this.#conversation = conversation;
    this.#body = this.#write(conversation);
    this.tools = offeredTools(target, this.#body);
  }

  /** The request without another limit. */
  get body(): JsonObject {
    return this.#body ?? {};
  }

  take(outputTokens: number | undefined, runs: number | undefined): string {
    const conversation = this.#conversation;
    const isLimited = outputTokens !== undefined && conversation !== undefined;
    const body = (isLimited ? this.#write({ ...conversation, outputTokensMax: outputTokens }) : this.#body) ?? {};
    this.#conversation = undefined;
    this.#body = undefined;
    const { operation, model } = this.#target;
    const sent = this.tools === undefined ? body : withDecidedTools(body, { ...this.tools, runs });
    const edits = operation.edits(body, model);
    for (const fact of factsOfEdits(edits) ?? []) this.changes.add(fact);
    return JSON.stringify(editValue(sent, edits, operation));
  }

  #write(conversation: Conversation): JsonObject {
    const { operation, model, price, route } = this.#target;
    return translations[this.#dialect].writeRequest(conversation, {
      ...operation.facts?.(model),
      model,
      origin: route.prefix,
      outputTokensMax: price.maxOutputTokens,
      foreignIds: this.#foreignIds,
      changed: (fact) => this.changes.add(fact),
    });
  }
}

/** A body in the dialect of its upstream, as its model takes it, for a request that is no call. */
export function fittedBody(asked: JsonObject, dialect: Dialect, { model, operation, route }: Target): JsonObject {
  const facts = operation.facts?.(model) ?? {};
  const client = translations[dialect];
  const { fitted } = clientSide(client, client.readRequest(asked), { to: dialect, facts });
  return translations[dialect].writeRequest(fitted, { ...facts, model, origin: route.prefix });
}

/** A conversation as its upstream takes it, and the client's dialect, which gets its own tools back. */
interface ClientSide {
  fitted: Conversation;
  client: DialectTranslation;
  changes: FactName[];
}

function clientSide(
  asking: DialectTranslation,
  read: Conversation,
  { to, facts }: { to: Dialect; facts: ModelFacts },
): ClientSide {
  // Anthropic's own are known in Messages.
  const isOwn = (type: string): boolean => to === "messages" && asking.dialect === to && type !== "custom";
  const takes = (type: string): boolean => facts.clientTools?.includes(type) === true || isOwn(type);
  const actsOnHistory = asking.dialect === to && takes("tool_search");
  const { conversation, restore } = substituteTools(actsOnHistory ? read : withToolsInEffect(read), takes);
  const { conversation: named, names } = fitToolNames(conversation, facts.toolNameMax);
  const stop = named.stop.filter((sequence) => sequence !== "");
  const cutsAnswer = facts.refusesStop === true && stop.length > 0;
  const forced = to === "messages" ? forcedAnswer(named, facts) : undefined;
  let client = asking;
  const changes: FactName[] = restore === undefined ? [] : ["client-tools"];
  if (restore !== undefined) client = restoringTools(client, restore);
  if (names !== undefined) {
    client = namingTools(client, names);
    changes.push("tool-names");
  }
  if (cutsAnswer) {
    client = stoppingAt(client, stop);
    changes.push("stop");
  }
  if (forced === undefined) return { fitted: cutsAnswer ? { ...named, stop: [] } : named, client, changes };
  changes.push("forced-tools");
  return { fitted: forced.conversation, client: callingTool(client, forced.tool), changes };
}

/** Whether an upstream runs a tool, and its price is known. */
function isOffered(
  { dialect, value }: { dialect: Dialect; value: JsonObject },
  { operation, model }: Target,
  to: Dialect,
  asked: JsonObject,
): boolean {
  return dialect === to && (operation.readTool === undefined || operation.readTool(value, asked, model) !== undefined);
}

const JSON_TYPE = { "content-type": "application/json" };

function translated<Body extends ChargeableBody>(call: TextCall<Body>, codec: TextCodec<Body>, to: Dialect): Exchange {
  const { target, parsed, requestId, at } = call;
  const { operation, model } = target;
  const upstream = call.answerThoughts?.reading(translations[to]) ?? translations[to];
  const asked = call.decoded ?? decodeBody(parsed);
  const facts = operation.facts?.(model) ?? {};
  const asking = translations[codec.dialect];
  const { client, fitted, changes } = clientSide(asking, call.conversation ?? asking.readRequest(asked), { to, facts });
  const changed = (fact: FactName): void => void changes.push(fact);
  const offered = withOwnTools(fitted, translations[to], { facts, changed });
  const { conversation, left } = leaveOutHostedTools(offered, (tool) => isOffered(tool, target, to, asked));
  const origin = target.route.prefix;
  const request = new TranslatedRequest(target, to, conversation, call);
  for (const fact of changes) request.changes.add(fact);
  const callId = callIdOf(requestId);
  const { thinkTags, reasoningField } = facts;
  const { stream } = conversation;
  const readUsage: UpstreamContext["readUsage"] = (answer) => operation.readUsage(answer);
  const hasNoStore = operation.storesAnswers === undefined;
  const upstreamContext: UpstreamContext = { origin, callId, model, readUsage, hasNoStore, thinkTags, reasoningField };
  const clientContext: ClientContext = {
    request: call.request ?? asked,
    asked,
    shownModel: call.shownModel,
    callId,
    created: Math.floor(at / 1_000),
    inputTokensEstimate: estimateTokens(conversation),
    requestId,
  };
  const headers = { ...JSON_TYPE, ...droppedTools([...new Set([...left, ...(request.tools?.leftNames ?? [])])]) };
  return {
    output: requestedOutput(target, request.body),
    extras: extrasOf(target, request.body, request.tools),
    requests: (outputTokens, runs) => [{ subpath: subpathOf(target, stream), body: request.take(outputTokens, runs) }],
    passesThrough: false,
    streamed: stream,
    // Of the request, which is released.
    get headers() {
      return withChanges(headers, request.changes);
    },
    observe(charged) {
      const observer = translateStream({ upstream, upstreamContext, client, clientContext, charged });
      return {
        observer,
        events: { bytesMax: limits.eventBytesMax, changesCr: true, errorEvent: (error) => observer.fail(error) },
      };
    },
    observeBytes: undefined,
    answer([{ answer }], usage) {
      const read = { ...upstream.readAnswer(answer, upstreamContext), usage };
      const whole = client.writeAnswer(read, clientContext);
      if (!stream) return { body: whole, whole };
      // The upstream does not stream this operation.
      return { body: streamOfAnswer(read, client, clientContext), contentType: EVENT_STREAM, whole };
    },
    outputBytes: outputBytesIn[to],
    failure: (status, text) => client.writeFailure(upstream.readFailure(status, text), requestId),
  };
}
