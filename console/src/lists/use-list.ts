import { useInfiniteQuery, type UseInfiniteQueryResult } from "@tanstack/react-query";
import { addressOf, type Parameters, request } from "../api/client.ts";
import type { List } from "../api/types.ts";

const ROWS = 100;

interface ListOptions<Item> {
  parameters?: Parameters;
  /** What a list goes on after: the id of its last item, unless it is said otherwise. */
  markOf: (item: Item) => string | number;
  /** Asks again after so many milliseconds. */
  everyMs?: number;
}

/** The items of a list of the API, page after page. */
export function useList<Item>(
  path: string,
  { parameters = {}, markOf, everyMs }: ListOptions<Item>,
): UseInfiniteQueryResult<readonly List<Item>[]> {
  const address = (after?: string | number): string => addressOf(path, { ...parameters, limit: ROWS, after });
  return useInfiniteQuery({
    queryKey: ["list", address()],
    queryFn: ({ pageParam, signal }) => request<List<Item>>(address(pageParam), { signal }),
    initialPageParam: undefined as string | number | undefined,
    getNextPageParam: ({ data, has_more, scanned_from }) => {
      const last = data.at(-1);
      if (!has_more) return undefined;
      // A list that was searched for some time goes on from there, whatever it has found.
      return scanned_from ?? (last === undefined ? undefined : markOf(last));
    },
    select: ({ pages }) => pages,
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
  });
}
