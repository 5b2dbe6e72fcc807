/** A call's body becomes a plan before its hold: the target, the requests and the bound of the cost. */
import {
  decodeBody,
  decodedSizeOf,
  isLarge,
  type JsonEdit,
  parseBody,
  type ParsedBody,
  type ReceivedBody,
} from "../bodies/index.ts";
import { outputHold, type WorkPlan } from "../charges/index.ts";
import {
  type Environment,
  GatewayError,
  inAudioSteps,
  type JsonObject,
  limits,
  objectKinds,
  objectOf,
  type ObjectReference,
  withBroughtIn,
  withToolRuns,
  type WorkBound,
} from "../core/index.ts";
import {
  comparesModels,
  fetchedTextBytes,
  isOwnRun,
  itemsOfMakers,
  queuedResponse,
  type TextCodec,
  thoughtsOf,
} from "../dialects/index.ts";
import type { RetryKey } from "../ledger/index.ts";
import type { MediaCodec } from "../media/index.ts";
import {
  type BackgroundInput,
  type BackgroundResponses,
  type ExpandedInput,
  type ObjectLookup,
  rebaseErrorPath,
  type ResponseStoreService,
  type StoredObjects,
} from "../objects/index.ts";
import { type CallTargets, requireModels, requirePrices, type Target } from "../routing/index.ts";
import type { MemoryShare } from "../streaming/index.ts";
import { affinityOf } from "./affinity.ts";
import type { AnswerRecords, ObjectRecords } from "./answer-records.ts";
import type { ChargeableBody, ChargeableRoute } from "./chargeable-route.ts";
import { parseEdited } from "./edit-body.ts";
import { openMediaExchange } from "./exchange-media.ts";
import { callIdOf, keepsBytes, openTextExchange, passesThrough, type TextCall } from "./exchange-text.ts";
import type { Exchange } from "./exchange.ts";
import { type IncomingCall, isForOpenai, requireWhole } from "./incoming-call.ts";
import {
  mayLackSomething,
  type BodyPreparation,
  type PreparationDependencies,
  prepareBody,
} from "./preparation/prepare-body.ts";
import { backgroundOf, backgroundRecord } from "./background/background-record.ts";
import { withThoughts } from "./thought-keys.ts";
import { decodeInTurns, type LargeBodies } from "./large-bodies.ts";

/** How a response runs in the background. */
export interface BackgroundPlan {
  service: BackgroundResponses;
  record: BackgroundInput;
  /** The response before its beginning; undefined if its upstream names it. */
  queued: JsonObject | undefined;
  /** Whether the upstream runs it by itself. */
  isNative: boolean;
  /** Whether its client reads the events. */
  isStreamed: boolean;
}

export interface PlanDependencies extends PreparationDependencies {
  environment: Pick<Environment, "randomBytes">;
  storedObjects: StoredObjects;
  largeBodies: LargeBodies;
}

/** A call whose body has been read. */
export interface ReadCall<Body extends ChargeableBody> {
  route: ChargeableRoute<Body>;
  incoming: IncomingCall;
  received: ReceivedBody<Body>;
  target: Target;
  /** Undefined for a call without a retry key. */
  retry: RetryKey | undefined;
  /** Counts the body, and what is fetched for it. */
  memory: MemoryShare;
  /** The key of its session, if it is known already (`affinityOf`). */
  session?: string | undefined;
  /** Of a call that may have several targets. */
  lookup?: ObjectLookup | undefined;
  /** In milliseconds since the epoch. */
  at: number;
  /** By the performance clock. */
  arrivedAt: number;
  deps: PlanDependencies;
}

/** The parts derived from a call's body. */
export interface CallPlan extends WorkPlan {
  incoming: IncomingCall;
  target: Target;
  exchange: Exchange;
  /** What is stored about the answer; undefined if that is nothing. */
  records: AnswerRecords | undefined;
  /** The id of the only key that knows the objects the call refers to. */
  pinnedKeyId: string | undefined;
  /** The key of its session (`affinityOf`); undefined if the provider has one key. */
  session?: string | undefined;
  /** The id of the key that made the encrypted thoughts of its history. */
  preferredKeyId?: string | undefined;
  /** How its response runs after the request; undefined for a call that answers it. */
  background?: BackgroundPlan | undefined;
  /** The targets after this one; undefined for a call with one. */
  targets?: CallTargets | undefined;
}

/** All steps that depend on the body's content and can refuse it. */
export function planCall<Body extends ChargeableBody>(call: ReadCall<Body>): CallPlan | Promise<CallPlan> {
  const { received, route } = call;
  const { codec } = route;
  if (codec.dialect === undefined) return planMedia(call, codec);
  if (received.kind === "form") throw new Error("no text generation takes a form");
  const { responseStore } = route;
  if (responseStore === undefined) return planText(call, received, codec);
  if (received.body["background"] === true) return planInBackground(call, received, codec, responseStore);
  return planKept(call, received, codec, responseStore);
}

async function planMedia<Body extends ChargeableBody>(
  call: ReadCall<Body>,
  codec: MediaCodec<Body>,
): Promise<CallPlan> {
  const { received } = call;
  const { body } = received;
  const sizeOf = received.kind === "json" ? received.sizeOf : decodedSizeOf;
  const { target, at, deps } = call;
  const { randomBytes } = deps.environment;
  const files = received.kind === "form" ? received.files : [];
  const bound = billedBound(codec.bound(body, sizeOf, files), target, objectOf(body) ?? {});
  const exchange = await openMediaExchange(
    { target, received, bound, at, randomBytes, isForOpenai: isForOpenai(call.incoming) },
    codec,
  );
  return authorized(call, planOf(call, bound, exchange), codec.references?.(body) ?? []);
}

/** The bound in the units in which the upstream bills: the tokens of its images, the steps of its audio. */
function billedBound(bound: WorkBound, { operation, model }: Target, body: JsonObject): WorkBound {
  const { inputUnits = {}, expectedInput = {}, outputImages } = bound;
  const { audioMsStep } = operation;
  const each = operation.imageUsageMax?.(body, model);
  if (outputImages !== undefined && each !== undefined) return { ...bound, outputImages: { ...outputImages, each } };
  if (audioMsStep === undefined) return bound;
  return {
    ...bound,
    inputUnits: inAudioSteps(inputUnits, audioMsStep),
    expectedInput: inAudioSteps(expectedInput, audioMsStep),
  };
}

/** A body before its plan. */
interface PreparedBody {
  /** The client's own body, if it has been decoded already. */
  own?: JsonObject | undefined;
  /** The decoded version of the parsed one. */
  decoded?: JsonObject | undefined;
  /** What it lacked; undefined if that has not been looked for. */
  preparation?: BodyPreparation | undefined;
  /** The ids of its items that other providers made; undefined if they have not been looked up. */
  foreignIds?: ReadonlySet<string> | undefined;
  /** The gateway's own conversation that it belongs to. */
  conversationId?: string | undefined;
}

function planText<Body extends ChargeableBody>(
  call: ReadCall<Body>,
  parsed: ParsedBody<Body>,
  codec: TextCodec<Body>,
  prepared: PreparedBody = {},
): CallPlan | Promise<CallPlan> {
  const { own, decoded = own, preparation, conversationId } = prepared;
  const { foreignIds = codec.dialect === "responses" ? lookUpForeign(call, parsed) : nothing } = prepared;
  const { target, incoming, at, deps } = call;
  if (foreignIds instanceof Promise) {
    return foreignIds.then((found) => planText(call, parsed, codec, { ...prepared, foreignIds: found }));
  }
  const isDecoded = decoded !== undefined || !isLarge(parsed.bytes.length);
  if (!isDecoded && !(foreignIds === nothing && keepsBytes(target, parsed, codec))) {
    return decodeBodyOf(call, parsed).then((all) =>
      planText(call, parsed, codec, { decoded: all, conversationId, foreignIds }),
    );
  }
  if (preparation === undefined && mayLackSomething(target, parsed, codec)) {
    requireWhole(incoming);
    const body = decoded ?? decodeBody(parsed);
    return prepareBody({ deps, target, principal: incoming.principal, body, memory: call.memory }, codec).then(
      (found) =>
        planText({ ...call, target: found.target }, parsed, codec, {
          own,
          decoded: body,
          preparation: found.preparation,
          conversationId,
          foreignIds,
        }),
    );
  }
  const bound = withPrepared(codec.bound(parsed.body, parsed.sizeOf), preparation);
  const { requestId, headers } = incoming;
  const shownModel = codec.dialect === "messages" && comparesModels(headers) ? parsed.body.model : undefined;
  const asked: TextCall<Body> = {
    target,
    parsed,
    requestId,
    at,
    request: own,
    decoded,
    conversationId,
    shownModel,
    headers,
    foreignIds: foreignIds === nothing ? undefined : foreignIds,
  };
  const exchange = openTextExchange(preparation === undefined ? asked : { ...asked, ...preparation }, codec);
  // Items of hosted tools keep the ids of the provider, even if the gateway writes the other items of the answer.
  const created = target.operation.dialect === codec.dialect ? codec.objects.created(parsed.body) : undefined;
  const objects = created && { created, ...objectRecords(call, parsed.body) };
  const thoughts = preparation?.answerThoughts;
  const keepThoughts = thoughts && (() => deps.keptThoughts.keep(thoughts.text, thoughts.callIds, incoming.principal));
  const records = (objects ?? keepThoughts) && { objects, storeResponse: undefined, keepThoughts };
  const references = codec.objects.references(parsed.body);
  const sent = foreignIds === nothing ? references : withoutForeign(references, foreignIds);
  const plan = authorized(call, planOf(call, bound, exchange, records), sent);
  const mayChange = target.route.keys.hasSeveral || call.lookup !== undefined;
  return mayChange ? withKeyOfThoughts(call, parsed.body, plan) : plan;
}

const nothing: ReadonlySet<string> = new Set();

/** An object of another kind with the same id is referred to as before. */
function withoutForeign(references: readonly ObjectReference[], foreignIds: ReadonlySet<string>): ObjectReference[] {
  return references.filter(({ kind, id }) => kind !== "item" || !foreignIds.has(id));
}

/** The ids of items of a history of Responses that another provider of Responses made, or the gateway. */
function lookUpForeign<Body extends ChargeableBody>(
  { incoming: { principal }, target: { route, operation }, deps }: ReadCall<Body>,
  { body }: ParsedBody<Body>,
): ReadonlySet<string> | Promise<ReadonlySet<string>> {
  if (operation.dialect !== "responses") return nothing;
  const all = itemsOfMakers(body);
  const own = all.filter(isOwnRun);
  const ids = own.length === 0 ? all : all.filter((id) => !isOwnRun(id));
  if (ids.length === 0) return own.length === 0 ? nothing : new Set(own);
  return deps.storedObjects.madeElsewhere(ids, { principal, route }).then((found) => {
    const foreign = own.length === 0 ? found : new Set([...found, ...own]);
    return foreign.size === 0 ? nothing : foreign;
  });
}

/** Thoughts and texts that the gateway adds are input, of at least a byte a token. */
function withPrepared(bound: WorkBound, preparation: BodyPreparation | undefined): WorkBound {
  if (preparation === undefined) return bound;
  const { lostThoughts, images } = preparation;
  if (lostThoughts === undefined && images === undefined) return bound;
  const thoughts = lostThoughts?.values().reduce((sum, text) => sum + Buffer.byteLength(text), 0) ?? 0;
  const texts = images === undefined ? 0 : fetchedTextBytes(images);
  return { ...bound, inputTokens: bound.inputTokens + thoughts + texts };
}

async function withKeyOfThoughts<Body extends ChargeableBody>(
  call: ReadCall<Body>,
  body: Body,
  planning: CallPlan | Promise<CallPlan>,
): Promise<CallPlan> {
  const plan = await planning;
  const { incoming, target, deps } = call;
  const caller = { principal: incoming.principal, route: target.route, lookup: call.lookup };
  const preferredKeyId = await deps.storedObjects.keyOf(thoughtsOf(body), caller);
  return { ...plan, preferredKeyId, records: withThoughts(plan.records, objectRecords(call, body)) };
}

function decodeBodyOf<Body extends ChargeableBody>(
  { deps, incoming: { principal } }: ReadCall<Body>,
  parsed: ParsedBody<Body>,
): Promise<JsonObject> {
  return decodeInTurns(parsed, deps.largeBodies, principal.user);
}

/** Whether the client knows objects of answers by the upstream's ids: not in another dialect, nor rewritten for one without a store. */
function hasUpstreamIds<Body>(
  { operation }: Pick<Target, "operation">,
  { dialect }: Pick<TextCodec<Body> | MediaCodec<Body>, "dialect">,
  { passesThrough: isSame }: Pick<Exchange, "passesThrough">,
): boolean {
  const isWithoutStore = dialect === "responses" && operation.storesAnswers === undefined;
  return isSame || (operation.dialect === dialect && !isWithoutStore);
}

/** The plan, once the caller is known to own all objects that the upstream would look up for it. */
function authorized<Body extends ChargeableBody>(
  { incoming, target: { route, operation }, route: { codec }, deps, lookup }: ReadCall<Body>,
  plan: CallPlan,
  references: readonly ObjectReference[],
): CallPlan | Promise<CallPlan> {
  if (references.length === 0) return plan;
  const sent = hasUpstreamIds({ operation }, codec, plan.exchange)
    ? references
    : references.filter(({ kind }) => objectKinds[kind].createdBy === "anyone");
  if (sent.length === 0) return plan;
  requireWhole(incoming);
  return deps.storedObjects
    .authorize(sent, { principal: incoming.principal, route, lookup })
    .then((pinnedKeyId) => ({ ...plan, pinnedKeyId }));
}

function objectRecords<Body extends ChargeableBody>(
  { incoming: { principal }, target: { route }, deps: { storedObjects } }: ReadCall<Body>,
  body: Body,
): Pick<ObjectRecords, "known" | "record"> {
  const ttlMs = body["store"] === false ? limits.unstoredObjectTtlMs : limits.responseTtlMs;
  const caller = { principal, route };
  return {
    known: (objects) => storedObjects.known(objects, caller),
    record: (objects, keyId) => storedObjects.record(objects, caller, { keyId, ttlMs }),
  };
}

/** The plan of a call whose answer is stored, and that may continue one. */
async function planKept<Body extends ChargeableBody>(
  call: ReadCall<Body>,
  parsed: ParsedBody<Body>,
  codec: TextCodec<Body>,
  responseStore: ResponseStoreService,
): Promise<CallPlan> {
  const { incoming, target } = call;
  const { principal, requestId } = incoming;
  // Of a body that passes through to an upstream that stores it, the gateway only needs ids.
  const isStoredThere = target.operation.storesAnswers !== undefined;
  const undecoded = isStoredThere && passesThrough(target, parsed, codec) ? objectOf(parsed.body) : undefined;
  let request = undecoded ?? withinStorage(target, parsed, await decodeBodyOf(call, parsed));
  const callId = callIdOf(requestId);
  let resolved = await responseStore.resolveInput({ principal, target, request, callId });
  if (resolved.expanded !== undefined && request === undecoded) {
    request = withinStorage(target, parsed, await decodeBodyOf(call, parsed));
    resolved = await responseStore.resolveInput({ principal, target, request, callId });
  }
  const { expanded, pinnedKeyId, conversationId } = resolved;
  if (expanded !== undefined || conversationId !== undefined) requireWhole(incoming);
  const plan =
    expanded === undefined
      ? await planText(call, parsed, codec, request === undecoded ? {} : { own: request })
      : await planExpanded(call, codec, { request, conversationId }, expanded);
  // A response converted by the gateway has another id upstream, which the client never sees.
  const isKeptUpstream = target.operation.storesAnswers !== undefined && plan.exchange.passesThrough;
  // Referenced items are stored in full; items stored by the upstream need not stay in memory.
  const input = isKeptUpstream ? undefined : (expanded?.ownItems ?? request["input"]);
  const { store, previous_response_id } = request;
  const turn = conversationId === undefined ? undefined : { conversationId, items: expanded?.ownItems ?? [] };
  const said = { principal, target, callId, turn, request: { store, previous_response_id, input } };
  const storeResponse: AnswerRecords["storeResponse"] = (response, keyId) =>
    responseStore.store(said, response, isKeptUpstream ? { keyId } : undefined);
  const records = { objects: undefined, ...plan.records, storeResponse };
  return { ...plan, records, pinnedKeyId: pinnedKeyId ?? plan.pinnedKeyId };
}

/** The plan of a call whose response goes on after its request. Throws 422 if it cannot be stored. */
async function planInBackground<Body extends ChargeableBody>(
  call: ReadCall<Body>,
  parsed: ParsedBody<Body>,
  codec: TextCodec<Body>,
  responseStore: ResponseStoreService,
): Promise<CallPlan> {
  const { route, target, incoming, at } = call;
  const service = backgroundOf(route, parsed);
  const isStreamed = parsed.body.stream === true;
  const isNative = target.operation.runsInBackground === true && !isStreamed && passesThrough(target, parsed, codec);
  const edits: JsonEdit[] = [{ remove: "background" }, { set: "stream", value: "true" }];
  const sent = isNative ? parsed : parseEdited(parsed, edits, route);
  const plan = await planKept({ ...call, received: sent }, sent, codec, responseStore);
  const request = await decodeBodyOf(call, parsed);
  const callId = callIdOf(incoming.requestId);
  const named = { request, callId, created: Math.floor(at / 1_000) };
  return {
    ...plan,
    records: plan.records && { ...plan.records, storeResponse: asBackground(plan.records.storeResponse) },
    background: {
      service,
      record: backgroundRecord({ principal: incoming.principal, target, request, callId }),
      queued: plan.exchange.passesThrough ? undefined : queuedResponse(named, target.model),
      isNative,
      isStreamed,
    },
  };
}

/** The upstream was not told. */
function asBackground(store: AnswerRecords["storeResponse"]): AnswerRecords["storeResponse"] {
  return store && ((response, keyId) => store({ ...response, background: true }, keyId));
}

/** A body that the gateway would have to store, and that is too large for that, is answered as with `store: false`. */
function withinStorage(
  { operation }: Target,
  { bytes }: Pick<ParsedBody<unknown>, "bytes">,
  request: JsonObject,
): JsonObject {
  const isStorable = operation.storesAnswers !== undefined || bytes.length <= limits.storedRoundBytesMax;
  return isStorable ? request : { ...request, store: false };
}

async function planExpanded<Body extends ChargeableBody>(
  call: ReadCall<Body>,
  codec: TextCodec<Body>,
  { request, conversationId }: { request: JsonObject; conversationId: string | undefined },
  { body, ...earlier }: ExpandedInput,
): Promise<CallPlan> {
  const { body: schema } = call.route;
  if (schema === undefined) throw new Error("a route whose answers are kept takes JSON");
  try {
    const parsed = parseBody(Buffer.from(JSON.stringify(body)), schema, codec.measured);
    return await planText(call, parsed, codec, { own: request, decoded: body, conversationId });
  } catch (thrown) {
    throw thrown instanceof GatewayError ? rebaseErrorPath(thrown, earlier) : thrown;
  }
}

function planOf<Body extends ChargeableBody>(
  { route, incoming, received, target, retry, session, at, arrivedAt }: ReadCall<Body>,
  own: WorkBound,
  exchange: Exchange,
  records?: AnswerRecords,
): CallPlan {
  const { extras, output, streamed } = exchange;
  if (extras !== undefined) {
    const bought = withToolRuns(extras, 1);
    requireModels(target, incoming.principal, bought);
    requirePrices(target, bought);
  }
  const bound = extras === undefined ? own : withBroughtIn({ ...own, ...extras });
  const { model, modelId, price, priceOf, operation } = target;
  const limitMin = operation.outputLimit?.min ?? 0;
  return {
    order: {
      id: incoming.requestId,
      parent: incoming.parent,
      principal: incoming.principal,
      operation: route.operations[0],
      dialect: route.codec.dialect,
      source: { provider: target.route.prefix, model, modelId },
      price,
      priceOf,
      bound,
      output: output && outputHold({ ...output, price, bound, streamed, limitMin }),
      streamed: received.body.stream === true,
      retry,
      at,
      arrivedAt,
    },
    // A text ends at once, which stops its cost. Of anything else a whole answer is awaited for its usage, within a bound,
    // because upstreams charge for it anyway.
    clientGoneGraceMs: streamed || output !== undefined ? 0 : limits.drainMsMax,
    incoming,
    target,
    exchange,
    records,
    pinnedKeyId: undefined,
    session: target.route.keys.hasSeveral
      ? (session ?? affinityOf({ headers: incoming.headers, received }))
      : undefined,
  };
}
