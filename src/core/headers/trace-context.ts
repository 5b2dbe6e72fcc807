/** The caller's span, as W3C Trace Context writes it. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** The id of the caller's span: 16 hexadecimal digits. */
  spanId: string;
  /** Whether the caller records the trace. */
  isSampled: boolean;
  /** The header `tracestate`, for systems that trace; absent if there is none, or none that is valid. */
  state?: string;
}

/** Of version 00; later ones may append further fields. https://www.w3.org/TR/trace-context/#traceparent-header */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/** A version of 00 has no further fields. */
const CHARACTERS = 55;

const CHARACTERS_MAX = 128;

const SAMPLED = 1;

/** Members are printable ASCII. Vendors need not propagate more than 512 characters. */
const TRACESTATE = /^[ -~\t]{1,512}$/;

/** Those of the headers that name the caller's span, for requests that are made on behalf of this one; none if they are not valid. */
export function traceHeaders(headers: Pick<Headers, "get">): Record<string, string> {
  const parent = headers.get("traceparent");
  const context = traceContextOf(headers);
  if (parent === null || context === undefined) return {};
  return { traceparent: parent, ...(context.state !== undefined && { tracestate: context.state }) };
}

/** The trace that a request belongs to; undefined if it names none, or none that is valid. */
export function traceContextOf(headers: Pick<Headers, "get">): TraceContext | undefined {
  const parent = headers.get("traceparent");
  if (parent === null || parent.length > CHARACTERS_MAX) return undefined;
  const [, traceId = "", spanId = "", flags = ""] = TRACEPARENT.exec(parent) ?? [];
  if (traceId === "" || (parent.startsWith("00") && parent.length !== CHARACTERS)) return undefined;
  const context: TraceContext = { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
  const state = headers.get("tracestate");
  if (state !== null && TRACESTATE.test(state)) context.state = state;
  return context;
}
