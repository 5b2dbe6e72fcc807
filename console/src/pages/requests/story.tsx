import { Link, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useApi } from "../../api/queries.ts";
import { useReach } from "../../api/use-session.ts";
import type { Entry, Generation, List, Model, Usage } from "../../api/types.ts";
import { Amount, Count, durationText } from "../../money/amount.tsx";
import { OutcomeBadge } from "../../reports/outcome.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Loaded, Skeleton } from "../../ui/states.tsx";
import { AttemptTable } from "./attempt-table.tsx";
import { callAsCurl } from "./call-as-curl.ts";
import { PartList, useParts } from "./parts.tsx";
import { PriceTable } from "./price-table.tsx";
import { seriesOf } from "./series.tsx";
import { Timeline } from "./timeline.tsx";
import { ToRequests } from "./to-requests.tsx";

/** One call: its timeline, its attempts, and how its price comes about. */
export function Page() {
  const { id }: { id?: string } = useParams({ strict: false });
  const { generations } = useReach();
  const query = useApi<Generation>(`${generations}/${encodeURIComponent(id ?? "")}`);
  return (
    <>
      <ToRequests />
      <PageHead title="Request" note={<code className="font-mono text-xs break-all select-all">{id}</code>} />
      <Loaded query={query} skeleton={<Skeleton className="h-96" />}>
        {(call) => <Story call={call} />}
      </Loaded>
    </>
  );
}

function Story({ call }: { call: Generation }) {
  return (
    <div className="grid gap-5 xl:grid-cols-[minmax(0,1fr)_22rem]">
      <div className="min-w-0 space-y-5">
        <Headline call={call} />
        <Charge call={call} />
        <Part title="Timeline">
          <Timeline call={call} />
        </Part>
        {call.attempts !== undefined && call.attempts.length > 0 && (
          <Part title="Attempts">
            <AttemptTable attempts={call.attempts} />
          </Part>
        )}
        <Part title="As curl">
          <p className="mb-2.5 text-muted">Prompts and answers are not stored: write your own message.</p>
          <CodeBlock text={callAsCurl(call, location.origin)} />
          {call.dialect !== null && (
            <Link
              to={`/playground?model=${encodeURIComponent(call.model)}`}
              className="no-print mt-3 inline-block text-accent underline underline-offset-4"
            >
              Again in the playground
            </Link>
          )}
        </Part>
      </div>
      <div className="space-y-5">
        <Part title="Details">
          <Details call={call} />
        </Part>
        {call.session !== null && <SessionPart session={call.session} at={call.created_at} />}
      </div>
    </div>
  );
}

/** Units × price, and the hold; or the parts of a call that costs nothing itself. */
function Charge({ call }: { call: Generation }) {
  const model = useApi<Model>(`/v1/models/${encodeURIComponent(call.model)}`);
  const { parts, isLoading } = useParts(call);
  if (parts.length > 0) return <PartList parts={parts} />;
  return (
    <Part title="Charge">
      <PriceTable call={call} prices={model.data?.pricing} isLoading={model.isLoading || isLoading} />
      <HoldLine call={call} />
    </Part>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="card p-4 print:break-inside-avoid">
      <h2 className="mb-3 text-[0.8125rem] font-medium text-soft">{title}</h2>
      {children}
    </section>
  );
}

function Headline({ call }: { call: Generation }) {
  const figures: [string, ReactNode][] = [
    ["Credits", <Amount key="credits" value={call.credits} isLarge />],
    ["Tokens in", <Count key="in" value={call.input_tokens} />],
    ["Tokens out", <Count key="out" value={call.output_tokens} />],
    ["Duration", durationText(call.latency_ms)],
  ];
  return (
    <section aria-label="Summary" className="card">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line p-4">
        <p className="min-w-0 text-base font-semibold [overflow-wrap:anywhere]">{call.model}</p>
        <OutcomeBadge outcome={call.outcome} status={call.status} />
        <p className="text-muted sm:ml-auto">
          <time dateTime={call.created_at}>{new Date(call.created_at).toLocaleString("en-GB")}</time>
        </p>
      </div>
      <dl className="grid grid-cols-2 gap-4 p-4 sm:grid-cols-4">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt className="text-[0.8125rem] text-muted">{name}</dt>
            <dd className="figures text-xl font-semibold tracking-tight">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** What was held before the call, beside what was charged. The books have it for a while at their beginning. */
function HoldLine({ call }: { call: Generation }) {
  const { seesAll } = useReach();
  const entries = useApi<List<Entry>>(
    "/admin/v1/entries",
    { token: call.token_id, kind: "settle", limit: 100 },
    { isWanted: seesAll },
  );
  const entry = entries.data?.data.find(({ id }) => id === call.id);
  if (entry === undefined) return null;
  return (
    <p className="mt-3 border-t border-line pt-3 text-muted">
      Held before the call <Amount value={entry.held} className="text-ink" />, charged{" "}
      <Amount value={entry.amount} className="text-ink" />; the rest was free again at its end.
      {entry.shortfall > 0 && (
        <>
          {" "}
          Not covered by any account: <Amount value={entry.shortfall} className="text-bad" />.
        </>
      )}
    </p>
  );
}

function Details({ call }: { call: Generation }) {
  const rows: [string, ReactNode][] = [
    ["User", call.user],
    ["Project", call.project],
    ["Organisation", call.organisation],
    ["Token", <code key="token">{call.token_id}</code>],
    ["Operation", `${call.operation}${call.streamed ? ", streamed" : ""}`],
    ["Format", call.dialect],
    ["Route", call.route],
    ["First token", call.time_to_first_token_ms === null ? undefined : durationText(call.time_to_first_token_ms)],
    ["Service tier", call.service_tier],
    ["Region", call.inference_geo],
    ["Ended by", call.error_code],
    ["Output limit set", call.max_output_tokens],
    ["Estimated", call.estimated?.join(", ")],
    ["End user", call.end_user],
    ...tagRows(call),
    ["Your id", call.client_request_id],
    ["Provider’s id", call.upstream_request_id],
    ["Part of", call.parent_id === null ? null : <SeriesLink key="series" call={call} />],
    ["List price", call.list_credits === null ? undefined : <Amount key="list" value={call.list_credits} />],
    ["Refunded", call.refunded_credits === undefined ? undefined : <Amount key="back" value={call.refunded_credits} />],
  ];
  return (
    <dl className="space-y-2.5 text-[0.8125rem]">
      {rows.map(
        ([name, value]) =>
          value !== undefined &&
          value !== null && (
            <div key={name} className="flex gap-3">
              <dt className="w-28 shrink-0 text-muted">{name}</dt>
              <dd className="min-w-0 flex-1 [overflow-wrap:anywhere]">{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

function SeriesLink({ call }: { call: Generation }) {
  const { seesAll } = useReach();
  const search = seriesOf(call, seesAll);
  return (
    <Link to="/requests" search={{ ...search }} className="font-medium text-accent underline underline-offset-4">
      {call.parent_id}
    </Link>
  );
}

/** Each tag leads to the calls that have it. */
function tagRows({ tags = {} }: Generation): [string, ReactNode][] {
  return Object.entries(tags).map(([key, value]) => [
    `Tag ${key}`,
    <Link
      key={key}
      to="/requests"
      search={{ [`tag:${key}`]: value }}
      className="font-medium text-accent underline underline-offset-4"
    >
      {value}
    </Link>,
  ]);
}

/** The sums of sessions are those of single calls: a longer time would take seconds on large books. */
const SESSION_MS = 12 * 3_600_000;

/** The session that the call belongs to, with its sum. */
function SessionPart({ session, at }: { session: string; at: string }) {
  const { usage } = useReach();
  const timeOf = (difference: number): string => new Date(Date.parse(at) + difference).toISOString();
  const period = { from: timeOf(-SESSION_MS), to: timeOf(SESSION_MS) };
  const query = useApi<Usage>(usage, { ...period, group_by: "session,model", session });
  const groups = query.data?.data.filter((group) => group.session === session) ?? [];
  return (
    <Part title="Session">
      <p className="mb-2 [overflow-wrap:anywhere]">
        <Link to="/requests" search={{ session }} className="font-medium text-accent underline underline-offset-4">
          {session}
        </Link>
      </p>
      <p className="mb-2 text-xs text-muted">Within twelve hours of this call:</p>
      <ul className="space-y-1.5 text-[0.8125rem]">
        {groups.map(({ model, requests, credits }) => (
          <li key={model} className="flex flex-wrap gap-x-3">
            <span className="min-w-0 flex-1 truncate">{model}</span>
            <span className="text-muted">{requests} calls</span>
            <Amount value={credits} />
          </li>
        ))}
      </ul>
      {query.data !== undefined && (
        <p className="mt-2 flex justify-between border-t border-line pt-2 text-[0.8125rem] font-semibold">
          <span>Total</span>
          <Amount value={query.data.total.credits} />
        </p>
      )}
    </Part>
  );
}
