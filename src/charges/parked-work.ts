import type { WorkBound, Dialect, Operation, TraceContext } from "../core/index.ts";
import { type PriceSnapshot, priceFrom, snapshotOf, withMarkup } from "../pricing/index.ts";
import type { CallRecord, RetryKey } from "../ledger/index.ts";
import type { HoldState } from "./lease.ts";
import type { WorkOrder, WorkOwner, WorkSource } from "./work-order.ts";

/**
 * Work whose hold is kept by a job, as plain JSON: any node that has it can continue the work. The price is the one of
 * the order, whatever the configuration contains by then.
 */
export interface ParkedWork {
  id: string;
  parent?: string;
  session?: string;
  clientRequestId?: string;
  endUser?: string;
  tags?: Readonly<Record<string, string>>;
  /** The caller's span, if traces are recorded. */
  trace?: TraceContext;
  /** Holds taken after the first one, whose id is the work's. */
  reserves: readonly string[];
  /** The held amount, in nano-credits. */
  held: string;
  principal: WorkOwner;
  operation: Operation;
  dialect?: Dialect;
  source: WorkSource;
  price: PriceSnapshot;
  /** The operator's markup, in millionths; only of work of an older version. */
  markup?: string;
  bound: WorkBound;
  /** The caller's own limit of the charge, in nano-credits. */
  chargeMax?: string;
  streamed: boolean;
  /** The retry key that its hold claims. */
  retry?: RetryKey;
  at: number;
  /** Its requests so far; absent before the first, and in work of an older version. */
  asked?: AskedUpstreams;
}

/** The requests of a piece of work to upstreams, as its record has them: all of them only once one has failed. */
export type AskedUpstreams = Pick<CallRecord, "route" | "upstreamRequestId" | "attempts">;

export function toParkedWork(
  order: WorkOrder,
  { reserves, amount }: HoldState,
  asked: AskedUpstreams = {},
): ParkedWork {
  const { id, parent, session, clientRequestId, endUser, tags, principal, operation, dialect, source, price, bound } =
    order;
  const { streamed, retry, at, chargeMax, trace } = order;
  const { user, tokenId, accountId, rates, ratesAbove, partOf } = principal;
  return {
    id,
    ...(parent === undefined ? {} : { parent }),
    ...(session === undefined ? {} : { session }),
    ...(clientRequestId === undefined ? {} : { clientRequestId }),
    ...(endUser === undefined ? {} : { endUser }),
    ...(tags === undefined ? {} : { tags }),
    ...(trace === undefined ? {} : { trace }),
    reserves,
    held: String(amount),
    principal: {
      user,
      tokenId,
      accountId,
      rates,
      ...(ratesAbove && { ratesAbove }),
      ...(partOf !== undefined && { partOf }),
    },
    operation,
    ...(dialect === undefined ? {} : { dialect }),
    source,
    price: snapshotOf(price),
    bound,
    ...(chargeMax === undefined ? {} : { chargeMax: String(chargeMax) }),
    streamed,
    ...(retry === undefined ? {} : { retry }),
    at,
    ...(Object.values(asked).every((each) => each === undefined) ? {} : { asked: { ...asked } }),
  };
}

/** The order of parked work, the state of its money, and its requests so far. */
export function fromParkedWork(parked: ParkedWork): { order: WorkOrder; holding: HoldState; asked: AskedUpstreams } {
  const { reserves, held, price, markup, dialect, chargeMax, asked = {}, ...rest } = parked;
  return {
    asked,
    order: {
      ...rest,
      dialect,
      price: withMarkup(priceFrom(price), markup === undefined ? undefined : BigInt(markup)),
      chargeMax: chargeMax === undefined ? undefined : BigInt(chargeMax),
    },
    holding: { reserves, amount: BigInt(held) },
  };
}
