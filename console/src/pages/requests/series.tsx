import { useInfiniteQuery } from "@tanstack/react-query";
import { addressOf, request } from "../../api/client.ts";
import { useReach } from "../../api/use-session.ts";
import type { Generation, List } from "../../api/types.ts";
import { Amount, Count } from "../../money/amount.tsx";
import { decimalOf, sum } from "../../money/decimal.ts";
import { Button } from "../../ui/button.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Empty, ErrorState, Skeleton } from "../../ui/states.tsx";
import { CallTable } from "./call-table.tsx";
import { ToRequests } from "./to-requests.tsx";

const PAGE_CALLS = 100;

/** The words of the address that name a series: its id, and whose it is, for those who see everybody's. */
export type SeriesWords = Readonly<Partial<Record<"parent_id" | "user" | "project", string>>>;

/** The words that lead to the series that a call is a part of; undefined if it is none's. */
export function seriesOf({ parent_id: parent, user, project }: Generation, seesAll: boolean): SeriesWords | undefined {
  if (parent === null) return undefined;
  if (!seesAll) return { parent_id: parent };
  return { parent_id: parent, ...(user != null ? { user } : project != null && { project }) };
}

/** A crawl, a batch or a realtime session as one story: its calls from the oldest, with their sum. */
export function Series({ words }: { words: SeriesWords }) {
  const { seesAll, generations } = useReach();
  const { parent_id: id, user, project } = words;
  const address = (after: string) =>
    addressOf(generations, { parent_id: id, ...(seesAll && { user, project }), limit: PAGE_CALLS, after });
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: [address(""), "series"],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => request<List<Generation>>(address(pageParam), { signal }),
    getNextPageParam: ({ next_cursor: next }) => next,
  });
  const calls = data?.pages.flatMap((page) => page.data);
  return (
    <>
      <ToRequests />
      <PageHead title="Series" note={<code className="font-mono text-xs break-all select-all">{id}</code>} />
      {calls === undefined &&
        (error === null ? <Skeleton className="h-96" /> : <ErrorState error={error} retry={() => void refetch()} />)}
      {calls?.length === 0 && (
        <Empty title="No calls">Its calls appear here as soon as they have ended, for some days.</Empty>
      )}
      {calls !== undefined && calls.length > 0 && (
        <>
          <SeriesSum calls={calls} hasMore={hasNextPage} />
          <CallTable calls={calls} seesAll={seesAll} />
        </>
      )}
      {hasNextPage && (
        <div className="mt-4 text-center">
          <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Later calls
          </Button>
        </div>
      )}
    </>
  );
}

function SeriesSum({ calls, hasMore }: { calls: readonly Generation[]; hasMore: boolean }) {
  const [first, last] = [calls[0], calls.at(-1)];
  const failed = calls.filter(({ outcome }) => outcome !== "complete").length;
  return (
    <p className="mb-4 text-soft">
      {hasMore && "The first "}
      <Count value={calls.length} /> calls, <Count value={failed} /> of them not complete, for{" "}
      <span className="font-semibold text-ink">
        <Amount value={sum(calls.map(({ credits }) => decimalOf(credits)))} /> credits
      </span>
      {first !== undefined && last !== undefined && (
        <>
          , from <time dateTime={first.created_at}>{new Date(first.created_at).toLocaleString("en-GB")}</time> to{" "}
          <time dateTime={last.created_at}>{new Date(last.created_at).toLocaleString("en-GB")}</time>
        </>
      )}
    </p>
  );
}
