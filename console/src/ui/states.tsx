import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ApiError } from "../api/client.ts";
import { Button } from "./button.tsx";
import { CodeBlock } from "./code-block.tsx";
import { Icon } from "./icon.tsx";

/** A request that failed: the gateway's words, the id by which its log has it, and another try. */
export function ErrorState({ error, retry }: { error: Error; retry: () => void }) {
  const requestId = error instanceof ApiError ? error.requestId : null;
  return (
    <div role="alert" className="card flex flex-col items-start gap-3 p-5">
      <p className="flex items-center gap-2 font-medium text-bad">
        <Icon name="warning" />
        This did not succeed
      </p>
      <p className="text-soft [overflow-wrap:anywhere]">{error.message}</p>
      {requestId !== null && (
        <p className="text-xs text-muted">
          Request <code className="font-mono select-all">{requestId}</code>
        </p>
      )}
      <Button onClick={retry}>Try again</Button>
    </div>
  );
}

/** Above figures that could not be refreshed. */
export function StaleNote({ since, retry }: { since: number; retry: () => void }) {
  const time = new Date(since);
  return (
    <div
      role="status"
      className="mb-4 flex flex-wrap items-center gap-x-3 gap-y-1 rounded-lg bg-warn-wash px-3 py-2 text-[0.8125rem] text-warn"
    >
      <Icon name="warning" />
      <span>
        As of <time dateTime={time.toISOString()}>{time.toLocaleTimeString()}</time>: the gateway has not answered
        since.
      </span>
      <button type="button" onClick={retry} className="font-medium underline underline-offset-4">
        Try again
      </button>
    </div>
  );
}

/** The place of figures that are on their way. It begins to move if they take long: drawing frames delays them. */
export function Skeleton({ className = "h-40" }: { className?: string }) {
  return (
    <div aria-hidden="true" className={`animate-pulse [animation-delay:0.5s] rounded-xl bg-sunken ${className}`} />
  );
}

interface EmptyProps {
  title: string;
  children?: ReactNode;
  /** The command that fills the page. */
  curl?: string;
}

/** Nothing there yet, and the command that changes that. */
export function Empty({ title, children, curl }: EmptyProps) {
  return (
    <div className="card px-5 py-10 text-center">
      <p className="text-base font-medium">{title}</p>
      {children !== undefined && <p className="mx-auto mt-1 max-w-prose text-muted">{children}</p>}
      {curl !== undefined && (
        <div className="mx-auto mt-5 max-w-2xl text-left">
          <CodeBlock text={curl} />
        </div>
      )}
    </div>
  );
}

interface LoadedProps<Data> {
  query: UseQueryResult<Data>;
  /** Shown while there is nothing yet. */
  skeleton?: ReactNode;
  children: (data: Data) => ReactNode;
}

/** What a query has brought, with its other states: on its way, failed, or older than the last try. */
export function Loaded<Data>({ query, skeleton, children }: LoadedProps<Data>) {
  const { data, error, refetch, dataUpdatedAt, isPlaceholderData } = query;
  const retry = () => void refetch();
  if (error !== null && (data === undefined || isPlaceholderData)) return <ErrorState error={error} retry={retry} />;
  if (data === undefined) return skeleton ?? <Skeleton />;
  return (
    <>
      {error !== null && <StaleNote since={dataUpdatedAt} retry={retry} />}
      {children(data)}
    </>
  );
}
