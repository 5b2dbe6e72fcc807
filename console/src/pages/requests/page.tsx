import { useState } from "react";
import { useReach } from "../../api/use-session.ts";
import type { Generation } from "../../api/types.ts";
import { useChangeWords, useWords } from "../../app/search.ts";
import { FilterChips } from "../../reports/filter-chips.tsx";
import { Button } from "../../ui/button.tsx";
import { firstCall } from "../../ui/first-call.ts";
import { Icon } from "../../ui/icon.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Empty, ErrorState, Skeleton, StaleNote } from "../../ui/states.tsx";
import { CallTable } from "./call-table.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { type CallFilter, useCallFilter, useCalls, useCallsAddress } from "./requests-query.ts";
import { Series } from "./series.tsx";
import { useTail } from "./use-tail.ts";

/** The calls that have ended, and live those that end; or those of one series. */
export function Page() {
  const words = useWords();
  return words["parent_id"] === undefined ? <AllCalls /> : <Series words={words} />;
}

function AllCalls() {
  const filter = useCallFilter();
  const change = useChangeWords();
  const { seesAll } = useReach();
  const [isLive, setLive] = useState(false);
  const { filters, status } = filter;
  return (
    <>
      <PageHead
        title="Requests"
        actions={
          seesAll && (
            <Button
              aria-pressed={isLive}
              onClick={() => setLive(!isLive)}
              className={isLive ? "border-good! text-good!" : ""}
            >
              <Icon name="live" />
              Live
            </Button>
          )
        }
      />
      <FilterBar filter={filter} change={change} />
      <FilterChips filters={filters} remove={(grouping) => change({ [grouping]: undefined })} />
      {isLive ? (
        <LiveCalls filter={{ filters, status, from: undefined, to: undefined }} />
      ) : (
        <Calls filter={filter} seesAll={seesAll} />
      )}
    </>
  );
}

function Calls({ filter, seesAll }: { filter: CallFilter; seesAll: boolean }) {
  const { data, error, refetch, dataUpdatedAt, hasNextPage, isFetchingNextPage, fetchNextPage } = useCalls(filter);
  const retry = () => void refetch();
  if (data === undefined)
    return error === null ? <Skeleton className="h-96" /> : <ErrorState error={error} retry={retry} />;
  const calls = data.pages.flatMap((page) => page.data);
  return (
    <>
      {error !== null && <StaleNote since={dataUpdatedAt} retry={retry} />}
      <CallList calls={calls} seesAll={seesAll} scannedFrom={data.pages.at(-1)?.scanned_from ?? undefined} />
      {hasNextPage && (
        <div className="mt-4 text-center">
          <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Older calls
          </Button>
        </div>
      )}
    </>
  );
}

interface CallListProps {
  calls: readonly Generation[];
  seesAll: boolean;
  /** The time at which the gateway has stopped its search. */
  scannedFrom: string | undefined;
}

function CallList({ calls, seesAll, scannedFrom }: CallListProps) {
  if (calls.length === 0 && scannedFrom === undefined) {
    return (
      <Empty title="No calls" curl={firstCall()}>
        None has ended in this period that matches. A call appears here as soon as it has ended:
      </Empty>
    );
  }
  return (
    <>
      {calls.length > 0 && <CallTable calls={calls} seesAll={seesAll} />}
      {scannedFrom !== undefined && (
        <p className="mt-3 text-muted">
          Searched back to <time dateTime={scannedFrom}>{new Date(scannedFrom).toLocaleString()}</time>.
        </p>
      )}
    </>
  );
}

function LiveCalls({ filter }: { filter: CallFilter }) {
  const address = useCallsAddress(filter);
  const { calls, leftOut, error } = useTail(address(), true);
  if (error !== undefined && calls.length === 0) return <ErrorState error={error} retry={() => location.reload()} />;
  return (
    <>
      <p role="status" className="mb-3 flex items-center gap-2 text-[0.8125rem] text-soft">
        <span
          aria-hidden="true"
          className={`size-2 rounded-full ${error === undefined ? "animate-pulse bg-good" : "bg-bad"}`}
        />
        {error?.message ?? (calls.length === 0 ? "Waiting for calls that end from now on" : "Calls while they end")}
        {leftOut > 0 && <span className="text-muted">· {leftOut} not shown</span>}
      </p>
      {calls.length > 0 && <CallTable calls={calls} seesAll />}
    </>
  );
}
