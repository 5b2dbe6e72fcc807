import type { Principal } from "../auth/index.ts";
import { type Dialect, limits, type Operation, type WorkBound } from "../core/index.ts";
import type { Hold, RetryKey } from "../ledger/index.ts";
import type { ModelPrice } from "../pricing/index.ts";

/** Who pays for a piece of work, and whose it is. */
export type WorkOwner = Pick<Principal, "user" | "tokenId" | "accountId" | "rates">;

/** What a piece of work is bought from. */
export interface WorkSource {
  /** The provider's prefix. */
  provider: string;
  /** The model as the provider knows it. */
  model: string;
  /** The model as the caller wrote it, with a prefix. */
  modelId: string;
}

/**
 * One paid piece of work before it begins: an HTTP call, one response of a realtime session, a video job, a page of a
 * crawl. A session or a crawl is a series of works under one `parent`: the next one's hold opens before the last one ends.
 */
export interface WorkOrder {
  /** The request's id. The hold and the generation record have the same. */
  id: string;
  /** The id of the series that this work belongs to; left out for work of its own. */
  parent?: string | undefined;
  principal: WorkOwner;
  operation: Operation;
  /** The client's dialect; undefined for an operation without one. */
  dialect: Dialect | undefined;
  source: WorkSource;
  price: ModelPrice;
  /** The most that the work can use. */
  bound: WorkBound;
  /** Whether the client gets a stream. */
  streamed: boolean;
  /** Undefined for work that is not answered a second time. */
  retry?: RetryKey | undefined;
  /** When it began, in milliseconds since the epoch. */
  at: number;
  /** When its request arrived, by the performance clock of this process; the order's own moment where left out. */
  arrivedAt?: number;
}

/** A hold of the work's, kept by this process: the first one, or one in place of a hold that has expired. */
export function holdOf(
  { parent, principal, operation, source }: WorkOrder,
  { id, amount, at }: Pick<Hold, "id" | "amount" | "at">,
): Hold {
  const { accountId } = principal;
  // For the person who reads `ledger holds`.
  const description = `${operation} ${source.provider}/${source.model}`;
  const hold: Hold = {
    kind: "hold",
    id,
    accountId,
    amount,
    description,
    at,
    leaseUntil: at + limits.holdLeaseMs,
  };
  if (parent !== undefined) hold.parent = parent;
  return hold;
}
