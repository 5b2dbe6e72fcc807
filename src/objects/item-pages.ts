import { GatewayError } from "../core/index.ts";

/** The default and the maximum number of items per page, as in OpenAI's lists. */
const PAGE_ITEMS = 20;
const PAGE_ITEMS_MAX = 100;

interface ItemPage {
  isAscending: boolean;
  limit: number;
  /** The id of the item before it. */
  after: string | null;
}

/** Also the page of a list that the provider stores: it would refuse other values with a status of its own. */
export function readItemPage(request: Request): ItemPage {
  const query = new URL(request.url).searchParams;
  const limit = limitOf(query.get("limit"));
  const after = query.get("after");
  return { isAscending: isAscending(query.get("order")), limit, after: after === "" ? null : after };
}

/** A page of these items, oldest first, in OpenAI's list format. */
export function itemPage(items: readonly unknown[], { isAscending: ascends, limit, after }: ItemPage) {
  const ordered = ascends ? items : items.toReversed();
  const from = after === null ? 0 : ordered.findIndex((item) => idOf(item) === after) + 1;
  if (after !== null && from === 0) {
    throw new GatewayError("validation_failed", "after: there is no such item.", { param: "after" });
  }
  const data = ordered.slice(from, from + limit);
  return {
    object: "list",
    data,
    first_id: idOf(data[0]),
    last_id: idOf(data.at(-1)),
    has_more: from + limit < ordered.length,
  };
}

function isAscending(order: string | null): boolean {
  if (order === null || order === "asc" || order === "desc") return order === "asc";
  throw new GatewayError("validation_failed", "order: must be asc or desc.", { param: "order" });
}

function limitOf(asked: string | null): number {
  if (asked === null) return PAGE_ITEMS;
  const limit = Number(asked);
  if (Number.isInteger(limit) && limit >= 1 && limit <= PAGE_ITEMS_MAX) return limit;
  throw new GatewayError("validation_failed", `limit: must be a whole number from 1 to ${PAGE_ITEMS_MAX}.`, {
    param: "limit",
  });
}

function idOf(item: unknown): string | null {
  return typeof item === "object" && item !== null && "id" in item && typeof item.id === "string" ? item.id : null;
}
