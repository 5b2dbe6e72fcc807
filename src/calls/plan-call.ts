/** What a call's body is made into before money is set aside for it: who is asked, what, and what it can cost. */
import { GatewayError, type JsonObject, parseObject, type RandomBytes } from "../core/index.ts";
import type { CallBound, MediaCodec, TextCodec } from "../dialects/index.ts";
import type { RetryKey } from "../ledger/index.ts";
import type { Target } from "../routing/index.ts";
import type { ChargeableBody, ChargeableRoute } from "./chargeable-route.ts";
import type { Exchange } from "./exchange.ts";
import { openMediaExchange } from "./exchange-media.ts";
import { callIdOf, openTextExchange } from "./exchange-text.ts";
import { parseBody, type ParsedBody } from "./parse-body.ts";
import type { CallBody } from "./receive-body.ts";
import { inOwnWords, type Recalled, type ResponseKeeper } from "./response-keeper.ts";
import type { IncomingCall } from "./running-call.ts";

/** What is known of a call once its body has been read. */
export interface PlannedCall<Body extends ChargeableBody> {
  route: ChargeableRoute<Body>;
  incoming: IncomingCall;
  received: CallBody<Body>;
  target: Target;
  /** Undefined for a call that is not answered a second time. */
  retry: RetryKey | undefined;
  /** Since the epoch. */
  at: number;
  randomBytes: RandomBytes;
}

/** What a call's body has been made into. */
export interface CallPlan {
  target: Target;
  bound: CallBound;
  /** Undefined for a call that is not answered a second time. */
  retry: RetryKey | undefined;
  exchange: Exchange;
  /** Keeps the response for later calls. */
  keep: ((response: JsonObject) => Promise<void>) | undefined;
  /** Whether the client wants a stream; `exchange.streamed` says whether the upstream is asked for one. */
  streamed: boolean;
  /** Since the epoch. */
  at: number;
}

/** Everything that depends on what the body says, and can refuse it. It uses the body's bytes up. */
export function planCall<Body extends ChargeableBody>(call: PlannedCall<Body>): CallPlan | Promise<CallPlan> {
  const { received, route } = call;
  const { codec } = route;
  if (codec.dialect === undefined) return planMedia(call, codec);
  if (received.kind === "form") throw new Error("no text generation takes a form");
  return route.keeper === undefined ? planText(call, received, codec) : planKept(call, received, codec, route.keeper);
}

async function planMedia<Body extends ChargeableBody>(
  call: PlannedCall<Body>,
  codec: MediaCodec<Body>,
): Promise<CallPlan> {
  const { received } = call;
  const { body } = received;
  const sizeOf = received.kind === "json" ? received.sizeOf : byteLengthOf;
  const bound = codec.bound(body, sizeOf, received.kind === "form" ? received.files : []);
  const { target, at, randomBytes } = call;
  const exchange = await openMediaExchange({ target, received, bound, at, randomBytes }, codec);
  return planOf(call, bound, exchange);
}

const byteLengthOf = (text: string): number => Buffer.byteLength(text);

function planText<Body extends ChargeableBody>(
  call: PlannedCall<Body>,
  parsed: ParsedBody<Body>,
  codec: TextCodec<Body>,
  own?: JsonObject,
  decoded = own,
): CallPlan {
  const { target, incoming, at } = call;
  const bound = codec.bound(parsed.body, parsed.sizeOf);
  const { requestId } = incoming;
  const exchange = openTextExchange({ target, parsed, requestId, at, request: own, decoded }, codec);
  return planOf(call, bound, exchange);
}

/** The plan of a call whose answer is kept, and that may continue one. */
async function planKept<Body extends ChargeableBody>(
  call: PlannedCall<Body>,
  parsed: ParsedBody<Body>,
  codec: TextCodec<Body>,
  keeper: ResponseKeeper,
): Promise<CallPlan> {
  const { incoming, target } = call;
  const { principal, requestId } = incoming;
  const request = parseObject(parsed.bytes.toString("utf8")) ?? {};
  const asked = { principal, target, request, callId: callIdOf(requestId) };
  const recalled = await keeper.recall(asked);
  const plan =
    recalled === undefined ? planText(call, parsed, codec, request) : planRecalled(call, codec, request, recalled);
  // One that was made anew here has another id upstream, which the client never gets to know.
  const isKeptUpstream = target.operation.keeps !== undefined && plan.exchange.passesThrough;
  // Items that were only named are kept as what they stand for; what the upstream keeps need not stay in memory.
  const input = isKeptUpstream ? undefined : (recalled?.ownItems ?? request["input"]);
  const { store, previous_response_id } = request;
  const said = { ...asked, request: { store, previous_response_id, input } };
  return { ...plan, keep: (response) => keeper.keep(said, response, isKeptUpstream) };
}

function planRecalled<Body extends ChargeableBody>(
  call: PlannedCall<Body>,
  codec: TextCodec<Body>,
  request: JsonObject,
  { body, earlierItems }: Recalled,
): CallPlan {
  const { body: schema } = call.route;
  if (schema === undefined) throw new Error("a route whose answers are kept takes JSON");
  try {
    const parsed = parseBody(Buffer.from(JSON.stringify(body)), schema, codec.measured);
    return planText(call, parsed, codec, request, body);
  } catch (thrown) {
    throw thrown instanceof GatewayError ? inOwnWords(thrown, earlierItems) : thrown;
  }
}

function planOf<Body extends ChargeableBody>(
  { target, retry, received, at }: PlannedCall<Body>,
  bound: CallBound,
  exchange: Exchange,
): CallPlan {
  return { target, bound, retry, exchange, keep: undefined, streamed: received.body.stream === true, at };
}
