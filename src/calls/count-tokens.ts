/**
 * Counts the input tokens of a call that is not made: by the upstream if it has such a route, else by an estimate from
 * lengths. Counting is free at the upstream, so nothing is held or charged.
 */
import type { z } from "zod";
import type { Principal } from "../auth/index.ts";
import {
  type BodyLimits,
  editBytes,
  isLarge,
  parseBody,
  type ParsedBody,
  memberIn,
  type ModelOf,
  readBody,
  withModel,
} from "../bodies/index.ts";
import type { AdmitFree } from "../charges/index.ts";
import {
  type Dialect,
  GatewayError,
  type JsonObject,
  type ModelFacts,
  type ModelOperation,
  type ObjectReference,
} from "../core/index.ts";
import {
  countResponseTokensRequest,
  countTokensRequest,
  estimateTokens,
  geminiCodec,
  type GeminiRequest,
  geminiRequest,
  hasTaggedSignature,
  messagesCodec,
  messagesReferences,
  misfitsMessages,
  ownResultStart,
  responsesCodec,
  translations,
} from "../dialects/index.ts";
import type { ObjectLookup, ResponseStoreService, StoredObjects } from "../objects/index.ts";
import { type ModelRouter, type Target, usableTargets } from "../routing/index.ts";
import { type AskDependencies, askUpstream } from "../sending/index.ts";
import { callIdOf, fittedBody, mustTranslate } from "./exchange-text.ts";
import type { HostedLoops } from "./hosted-loops.ts";
import { decodeInTurns, type LargeBodies } from "./large-bodies.ts";

export interface CountTokensDependencies {
  admitFree: AdmitFree;
  asking: AskDependencies;
  router: ModelRouter;
  body: BodyLimits;
  storedObjects: StoredObjects;
  responseStore: ResponseStoreService;
  largeBodies: LargeBodies;
  hosted: Pick<HostedLoops, "opened">;
}

/** An authenticated request of the route. */
export interface CountTokensCall {
  request: Request;
  requestId: string;
  principal: Principal;
  /** The model, if the request's address decides about it. */
  modelOf?: ModelOf | undefined;
}

/** A body to be sent. */
type CountableBody = string | readonly Uint8Array[];

interface CountedBody {
  model: string;
  [member: string]: unknown;
}

/** The differences of the dialects' routes. */
interface CountRoute<Body extends CountedBody> {
  dialect: Dialect;
  /** The operation of upstreams that count, and those that a model must have otherwise. */
  operations: readonly [ModelOperation, ...ModelOperation[]];
  schema: z.ZodType<Body>;
  measured: readonly string[];
  references(body: Body): readonly ObjectReference[];
  /** Whether something in a body does not fit its model. */
  misfits: (body: JsonObject, facts: ModelFacts) => boolean;
  /** Members that the conversation model requires and a counted body may lack. */
  required: JsonObject;
  /** The body that is counted, if it is a part of the one that was sent. */
  countedIn?: (bytes: Uint8Array) => Uint8Array;
  /** Members of the body that stand in the path. */
  named?: JsonObject;
  /** The form of the body that upstreams count, if it is another, with its model's name in it. */
  upstream?: { modelName: (model: string) => string; wrapped: (body: CountableBody) => CountableBody };
  /** Whether a body may continue a stored response. */
  continues: boolean;
  answer: (tokens: number) => JsonObject;
}

const messagesRoute: CountRoute<z.output<typeof countTokensRequest>> = {
  dialect: "messages",
  operations: ["count_tokens", "messages", "chat", "responses", "gemini"],
  schema: countTokensRequest,
  measured: messagesCodec.measured,
  references: messagesReferences,
  misfits: misfitsMessages,
  required: { max_tokens: 1 },
  continues: false,
  answer: (tokens) => ({ input_tokens: tokens }),
};

const responsesRoute: CountRoute<z.output<typeof countResponseTokensRequest>> = {
  dialect: "responses",
  operations: ["count_response_tokens", "responses", "chat", "messages", "gemini"],
  schema: countResponseTokensRequest,
  measured: responsesCodec.measured,
  misfits: () => false,
  references: (body) => responsesCodec.objects.references({ ...body, input: body.input ?? [] }),
  required: { input: "" },
  continues: true,
  answer: (tokens) => ({ object: "response.input_tokens", input_tokens: tokens }),
};

const wholeCalls = ["generateContentRequest", "generate_content_request"];

/** The model is in the path, and a whole call may stand within the body. */
function geminiRoute(model: string): CountRoute<GeminiRequest> {
  return {
    dialect: "gemini",
    operations: ["count_gemini_tokens", "gemini", "messages", "chat", "responses"],
    schema: geminiRequest,
    measured: geminiCodec.measured,
    misfits: () => false,
    references: (body) => geminiCodec.objects.references(body),
    required: {},
    countedIn: (bytes) => memberIn(bytes, wholeCalls) ?? bytes,
    named: { model },
    upstream: { modelName: (name) => `models/${name.replace(/^models\//, "")}`, wrapped: asWholeCall },
    continues: false,
    answer: (tokens) => ({ totalTokens: tokens }),
  };
}

/** Google counts more than contents in this form alone. */
function asWholeCall(body: CountableBody): CountableBody {
  const [before, after] = ['{"generateContentRequest":', "}"];
  return typeof body === "string" ? before + body + after : [Buffer.from(before), ...body, Buffer.from(after)];
}

/** `POST …/models/{model}:countTokens`. */
export function countGeminiTokens(
  deps: CountTokensDependencies,
  call: CountTokensCall,
  model: string,
): Promise<Response> {
  return count(deps, call, geminiRoute(model));
}

/** `POST /v1/messages/count_tokens`. */
export function countTokens(deps: CountTokensDependencies, call: CountTokensCall): Promise<Response> {
  return count(deps, call, messagesRoute);
}

/** `POST /v1/responses/input_tokens`. */
export function countResponseTokens(deps: CountTokensDependencies, call: CountTokensCall): Promise<Response> {
  return count(deps, call, responsesRoute);
}

async function count<Body extends CountedBody>(
  deps: CountTokensDependencies,
  call: CountTokensCall,
  route: CountRoute<Body>,
): Promise<Response> {
  await deps.admitFree({ ...call, operation: route.operations[0] });
  const memory = deps.asking.memory.share();
  try {
    const bytes = await readBody(call.request, deps.body, memory);
    if (isLarge(bytes.length)) await deps.largeBodies.turn(call.principal.user);
    const { modelOf } = call;
    const isInAddress = modelOf !== undefined && route.named === undefined;
    return await countIn(deps, call, route, isInAddress ? withModel(bytes, modelOf, memory) : bytes);
  } finally {
    memory.free();
  }
}

async function countIn<Body extends CountedBody>(
  deps: CountTokensDependencies,
  call: CountTokensCall,
  counted: CountRoute<Body>,
  bytes: Uint8Array,
): Promise<Response> {
  const { principal } = call;
  const came = parseBody(counted.countedIn?.(bytes) ?? bytes, counted.schema, counted.measured, counted.named);
  const sent = counted.dialect === "messages" ? await withOpenResults(deps, counted, came, principal) : came;
  const targets = [...usableTargets(deps.router, sent.body.model, counted.operations, principal)];
  const lookup = deps.storedObjects.lookup(targets.map(({ route }) => route.prefix));
  let refusal: unknown;
  for (const target of targets) {
    try {
      return await countAt(deps, call, counted, { sent, target, lookup });
    } catch (thrown) {
      if (!(thrown instanceof GatewayError) || thrown.code !== "object_not_found") throw thrown;
      // Another provider may have the object.
      refusal ??= thrown;
    }
  }
  throw refusal;
}

/** Results of searches that the gateway has sealed count with their texts, which the model gets. */
async function withOpenResults<Body extends CountedBody>(
  { hosted, largeBodies }: CountTokensDependencies,
  { schema, measured }: CountRoute<Body>,
  parsed: ParsedBody<Body>,
  principal: Principal,
): Promise<ParsedBody<Body>> {
  if (!parsed.text.includes(ownResultStart)) return parsed;
  const body = await hosted.opened(await decodeInTurns(parsed, largeBodies, principal.user), principal);
  return parseBody(Buffer.from(JSON.stringify(body)), schema, measured);
}

interface Counting<Body> {
  sent: ParsedBody<Body>;
  target: Target;
  lookup: ObjectLookup;
}

async function countAt<Body extends CountedBody>(
  deps: CountTokensDependencies,
  { request, requestId, principal }: CountTokensCall,
  counted: CountRoute<Body>,
  { sent, target, lookup }: Counting<Body>,
): Promise<Response> {
  const { parsed, pinnedKeyId } = counted.continues
    ? await continued(deps, counted, sent, { principal, target: storingTarget(target), callId: callIdOf(requestId) })
    : { parsed: sent, pinnedKeyId: undefined };
  const counts = target.operation === target.route.provider.operations[counted.operations[0]];
  // The upstream would refuse another upstream's signature.
  if (!counts || hasTaggedSignature(parsed, counted.dialect)) return estimate(deps, counted, parsed, principal.user);
  const { route } = target;
  const ownKeyId = await deps.storedObjects.authorize(counted.references(parsed.body), { principal, route, lookup });
  const model = counted.upstream?.modelName(target.model) ?? target.model;
  const body =
    (await fittedToModel(deps, counted, parsed, { target, model, owner: principal.user })) ??
    editBytes(parsed.bytes, parsed.members, [{ set: "model", value: JSON.stringify(model) }]);
  const subpath = target.operation.subpath?.(target.model, false) ?? "";
  const wrapped = counted.upstream?.wrapped(body) ?? body;
  return askUpstream(deps.asking, request, { target, subpath, body: wrapped, pinnedKeyId: pinnedKeyId ?? ownKeyId });
}

/** The body as a call of the model would have it, if it has something that the model does not take; undefined if not. */
async function fittedToModel<Body extends CountedBody>(
  { largeBodies }: CountTokensDependencies,
  { dialect, misfits, required }: CountRoute<Body>,
  parsed: ParsedBody<Body>,
  { target, model: name, owner }: { target: Target; model: string; owner: string },
): Promise<string | undefined> {
  const { model, route } = target;
  const operation = route.provider.operations[dialect];
  if (operation === undefined) return undefined;
  const isForeign = mustTranslate(operation, parsed, model);
  if (!isForeign && !misfits(parsed.body, operation.facts?.(model) ?? {})) return undefined;
  const asked = await decodeInTurns(parsed, largeBodies, owner);
  const { stream: _, ...fitted } = fittedBody({ ...required, ...asked }, dialect, { ...target, operation });
  // Members of a call that the counted body does not have.
  const members = Object.entries(fitted).filter(([key]) => key in asked || !(key in required));
  return JSON.stringify({ ...Object.fromEntries(members), model: name });
}

/** The operation that stores responses decides which of them the upstream knows. */
function storingTarget(target: Target): Target {
  const { responses } = target.route.provider.operations;
  return responses === undefined ? target : { ...target, operation: responses };
}

/** The body with the rounds before it, if it continues a response that the upstream does not know. */
async function continued<Body extends CountedBody>(
  { responseStore, largeBodies }: CountTokensDependencies,
  { schema, measured }: CountRoute<Body>,
  parsed: ParsedBody<Body>,
  call: { principal: Principal; target: Target; callId: string },
): Promise<{ parsed: ParsedBody<Body>; pinnedKeyId: string | undefined }> {
  const resolve = (request: JsonObject) => responseStore.resolveInput({ ...call, request: { input: "", ...request } });
  // A body without references is sent as it came, so only its ids are needed.
  const { expanded, pinnedKeyId } = await resolve(parsed.body);
  if (expanded === undefined) return { parsed, pinnedKeyId };
  const { expanded: decoded = expanded } = await resolve(await decodeInTurns(parsed, largeBodies, call.principal.user));
  return { parsed: parseBody(Buffer.from(JSON.stringify(decoded.body)), schema, measured), pinnedKeyId };
}

async function estimate<Body extends CountedBody>(
  { largeBodies }: CountTokensDependencies,
  { dialect, required, answer }: CountRoute<Body>,
  parsed: ParsedBody<Body>,
  owner: string,
): Promise<Response> {
  const waits = isLarge(parsed.bytes.length);
  if (waits) await largeBodies.turn(owner);
  const body = await decodeInTurns(parsed, largeBodies, owner);
  const conversation = translations[dialect].readRequest({ ...required, ...body });
  if (waits) await largeBodies.turn(owner);
  return Response.json(answer(estimateTokens(conversation)));
}
