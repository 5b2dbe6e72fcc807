import { lazily } from "../../ui/lazily.ts";
import { useApi } from "../../api/queries.ts";
import { useReach } from "../../api/use-session.ts";
import type { Account, List, Usage, UserInfo } from "../../api/types.ts";
import { Amount } from "../../money/amount.tsx";
import { add, type Decimal, decimalOf, ratio, ZERO } from "../../money/decimal.ts";
import { namedPeriods, today } from "../../reports/period.ts";
import { Loaded, Skeleton } from "../../ui/states.tsx";
import { runwayOf } from "./runway.ts";

/** The days whose spending is the pace. */
const PACE_DAYS = 7;

interface BalanceRow {
  name: string;
  /** Undefined if nothing limits it. */
  available: Decimal | undefined;
  spent: Decimal;
}

/** What is left, and when it runs out at the pace of the last days. */
export function Balances() {
  const { seesAll } = useReach();
  return (
    <section aria-label="Balances" className="card p-4">
      <h2 className="mb-3 text-[0.8125rem] font-medium text-soft">Available credits</h2>
      {seesAll ? <OrganisationBalances /> : <OwnBalance />}
    </section>
  );
}

function OrganisationBalances() {
  const { usage } = useReach();
  const accounts = useApi<List<Account>>("/admin/v1/organisations", { limit: 100 });
  const pace = useApi<Usage>(usage, { ...namedPeriods["7 days"](today()), group_by: "organisation" });
  return (
    <Loaded query={accounts} skeleton={<Skeleton className="h-24" />}>
      {({ data }) => {
        const rows = data
          .filter(({ disabled }) => !disabled)
          .map(({ id, name, available }): BalanceRow => {
            const spent = pace.data?.data.find(({ organisation }) => organisation === name || organisation === id);
            return {
              name,
              available: available === null ? undefined : decimalOf(available),
              spent: decimalOf(spent?.credits ?? 0),
            };
          });
        return <BalanceList rows={rows} nothing="No organisation pays yet: each user's own balance does." />;
      }}
    </Loaded>
  );
}

function OwnBalance() {
  const { usage } = useReach();
  const info = useApi<UserInfo>("/v1/user/info");
  const pace = useApi<Usage>(usage, { ...namedPeriods["7 days"](today()), group_by: "day" });
  return (
    <Loaded query={info} skeleton={<Skeleton className="h-24" />}>
      {({ user, available }) => {
        const left = available === undefined || available === null ? undefined : decimalOf(available);
        const rows = [{ name: user, available: left, spent: decimalOf(pace.data?.total.credits ?? 0) }];
        return <BalanceList rows={rows} nothing="" />;
      }}
    </Loaded>
  );
}

function BalanceList({ rows, nothing }: { rows: readonly BalanceRow[]; nothing: string }) {
  if (rows.length === 0) return <p className="text-muted">{nothing}</p>;
  return (
    <ul className="space-y-4">
      {rows.map((row) => (
        <Balance key={row.name} row={row} />
      ))}
    </ul>
  );
}

const dateFormat = lazily(() => new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" }));

function Balance({ row: { name, available, spent } }: { row: BalanceRow }) {
  if (available === undefined) {
    return (
      <li className="flex justify-between gap-3">
        <span className="truncate font-medium">{name}</span>
        <span className="text-muted">not limited</span>
      </li>
    );
  }
  const { days, date } = runwayOf(available, spent, PACE_DAYS);
  const isShort = days !== undefined && days < 7;
  const share = ratio(available.units < 0n ? ZERO : available, add(available, spent));
  return (
    <li>
      <p className="flex items-baseline justify-between gap-3">
        <span className="truncate font-medium">{name}</span>
        <Amount value={available} isLarge className="text-lg font-semibold tracking-tight" />
      </p>
      <div aria-hidden="true" className="mt-1 h-1.5 overflow-hidden rounded-full bg-sunken">
        <div
          style={{ width: `${(Math.min(1, Math.max(0, share)) * 100).toFixed(2)}%` }}
          className={`h-full rounded-full ${isShort ? "bg-series-6" : "bg-series-1"}`}
        />
      </div>
      <p className="mt-1 text-xs text-muted">
        <Amount value={spent} /> in the last {PACE_DAYS} days
        {date !== undefined && (
          <>
            {" · at this pace until "}
            <time dateTime={date.toISOString()} className={isShort ? "font-medium text-bad" : ""}>
              {dateFormat().format(date)}
            </time>
          </>
        )}
      </p>
    </li>
  );
}
