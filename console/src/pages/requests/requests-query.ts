import { useInfiniteQuery } from "@tanstack/react-query";
import { addressOf, request } from "../../api/client.ts";
import { useReach } from "../../api/use-session.ts";
import type { Generation, List } from "../../api/types.ts";
import { useWords } from "../../app/search.ts";
import { type Grouping, isAllowed, filtersOf } from "../../reports/dimensions.ts";

/** The words of the address that choose calls: those of the API. */
export interface CallFilter {
  filters: Partial<Record<Grouping, string>>;
  status: "" | "ok" | "failed";
  from: string | undefined;
  to: string | undefined;
}

export function useCallFilter(): CallFilter {
  const words = useWords();
  const { seesAll } = useReach();
  const own = Object.entries(filtersOf(words)) as [Grouping, string][];
  const filters = Object.fromEntries(own.filter(([name]) => isAllowed(name, seesAll)));
  const status = words["status"];
  return {
    filters,
    status: status === "ok" || status === "failed" ? status : "",
    from: words["from"],
    to: words["to"],
  };
}

const PAGE_CALLS = 100;

/** The address of the calls, without a page. */
export function useCallsAddress({ filters, status, from, to }: CallFilter) {
  const { generations } = useReach();
  return (more: Record<string, string | number | undefined> = {}) =>
    addressOf(generations, { ...filters, status, from, to, ...more });
}

/** The calls, newest first, page by page. */
export function useCalls(filter: CallFilter) {
  const address = useCallsAddress(filter);
  return useInfiniteQuery({
    queryKey: [address(), "pages"],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      request<List<Generation>>(address({ limit: PAGE_CALLS, after: pageParam }), { signal }),
    getNextPageParam: ({ next_cursor: next }) => next,
  });
}
