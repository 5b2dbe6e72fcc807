import type { Principal } from "../auth/index.ts";
import {
  type Dialect,
  limits,
  type Nano,
  type Operation,
  type TraceContext,
  withBroughtIn,
  withToolRuns,
  type WorkBound,
} from "../core/index.ts";
import type { Hold, RetryKey } from "../ledger/index.ts";
import { type ModelPrice, type PriceOf, withMarkup } from "../pricing/index.ts";
import type { OutputHold } from "./output-hold.ts";

/** The payer and owner of a piece of work. */
export type WorkOwner = Pick<
  Principal,
  "user" | "tokenId" | "accountId" | "rates" | "ratesAbove" | "markup" | "partOf"
>;

/** The provider and model that perform a piece of work. */
export interface WorkSource {
  /** The provider's prefix. */
  provider: string;
  /** The provider's name of the model. */
  model: string;
  /** The model id of the request, with its prefix. */
  modelId: string;
}

/** The names that its caller gives to a piece of work, so that its cost can be attributed. */
export interface WorkNames {
  /** The client's session, as its header names it: see `sessionOf`. */
  session?: string | undefined;
  /** The caller's own id of the request. */
  clientRequestId?: string | undefined;
  /** The caller's own user: see `endUserOf`. */
  endUser?: string | undefined;
  /** The values of the organisation's tags, by their keys. */
  tags?: Readonly<Record<string, string>> | undefined;
}

/**
 * One paid piece of work before it begins: an HTTP call, one response of a realtime session, a video job, a page of a
 * crawl. A session or a crawl is a series of works with the same `parent`; the next one's hold opens before the last
 * one ends.
 */
export interface WorkOrder extends WorkNames {
  /** The request's id, shared by the hold and the generation record. */
  id: string;
  /** The id of the series that this work belongs to; absent for single work. */
  parent?: string | undefined;
  /** The caller's span, if traces are recorded. */
  trace?: TraceContext | undefined;
  principal: WorkOwner;
  operation: Operation;
  /** The client's dialect; undefined for an operation without one. */
  dialect: Dialect | undefined;
  source: WorkSource;
  price: ModelPrice;
  /** The prices of other models that may take part in the work, such as an advisor. */
  priceOf?: PriceOf;
  /** The most that the work can use. */
  bound: WorkBound;
  /** The output that is held, if the work generates text; else the bound tells it. */
  output?: OutputHold | undefined;
  /** The most that the caller lets it cost, in nano-credits; undefined if that is all that the account has. */
  chargeMax?: Nano | undefined;
  /** Whether the answer to the client is streamed. */
  streamed: boolean;
  /** Undefined for work whose answer is not replayed. */
  retry?: RetryKey | undefined;
  /** The start, in milliseconds since the epoch. */
  at: number;
  /** The arrival of the request by this process's performance clock; by default the order's own time. */
  arrivedAt?: number;
}

/** Whether the owner, or one above, has limits a minute. */
export function isRateLimited({ rates, ratesAbove }: Pick<WorkOwner, "rates" | "ratesAbove">): boolean {
  return (rates ?? ratesAbove) !== undefined;
}

/** The order under the call that it is a part of, if it has no parent of its own. */
export function asPart(order: WorkOrder): WorkOrder {
  const { parent, principal } = order;
  return parent === undefined && principal.partOf !== undefined ? { ...order, parent: principal.partOf } : order;
}

/** The order with the markup of its owner's organisation in its prices, if that has one. */
export function withOwnMarkup(order: WorkOrder): WorkOrder {
  const { principal, price, priceOf } = order;
  if (principal.markup === undefined) return order;
  const markup = BigInt(principal.markup);
  const marked = { ...order, price: withMarkup(price, markup) };
  if (priceOf !== undefined) marked.priceOf = (model) => withMarkup(priceOf(model), markup);
  return marked;
}

/** The order with so many runs of the hosted tools that its request does not limit. */
export function withRuns(order: WorkOrder, runs: number): WorkOrder {
  return { ...order, bound: withBroughtIn(withToolRuns(order.bound, runs), order.bound.toolUnits) };
}

/** A hold for the work, kept by this process: the first one, or a replacement for one that has expired. */
export function holdOf(
  { parent, session, principal, operation, dialect, source, streamed }: WorkOrder,
  { id, amount, at }: Pick<Hold, "id" | "amount" | "at">,
): Hold {
  const hold: Hold = {
    kind: "hold",
    id,
    accountId: principal.accountId,
    amount,
    operation,
    provider: source.provider,
    model: source.model,
    dialect,
    streamed,
    at,
    leaseUntil: at + limits.holdLeaseMs,
  };
  if (parent !== undefined) hold.parent = parent;
  if (session !== undefined) hold.session = session;
  if (principal.partOf !== undefined) hold.isPart = true;
  return hold;
}
