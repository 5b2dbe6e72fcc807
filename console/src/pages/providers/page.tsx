import { useMemo } from "react";
import { useApi } from "../../api/queries.ts";
import { useReach, useSession } from "../../api/use-session.ts";
import type { Usage } from "../../api/types.ts";
import { Nothing } from "../../lists/cells.tsx";
import { type Column, ListSection } from "../../lists/list-section.tsx";
import type { Provider } from "../../lists/types.ts";
import { Amount, Count } from "../../money/amount.tsx";
import { Badge } from "../../ui/badge.tsx";
import { MomentText } from "../../ui/moment.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Empty } from "../../ui/states.tsx";
import { ProviderSwitch } from "./provider-switch.tsx";
import { TestCall } from "./test-call.tsx";

const EVERY_MS = 15_000;
const DAY_MS = 86_400_000;

/** The providers, with their keys, the targets that are left out, and their calls of the last day. */
export function Page() {
  const { role } = useSession();
  const { seesAll } = useReach();
  const columns = [...stateColumns, ...(seesAll ? usageColumns : []), ...tryColumns];
  const switches: Column<Provider> = { header: "Switch", cell: (provider) => <ProviderSwitch provider={provider} /> };
  return (
    <>
      <PageHead title="Providers" note="Their keys and switches, and the models that are left out after failures." />
      <ListSection
        caption="Providers"
        path="/admin/v1/providers"
        columns={role === "auditor" ? columns : [...columns, switches]}
        idOf={({ id }) => id}
        everyMs={EVERY_MS}
        empty={
          <Empty title="No provider">
            A provider is there as soon as its key is in the environment, or in the configuration under{" "}
            <code>providers</code>.
          </Empty>
        }
      />
    </>
  );
}

const stateColumns: readonly Column<Provider>[] = [
  { header: "Provider", cell: (provider) => <Name provider={provider} /> },
  { header: "State", cell: (provider) => <State provider={provider} /> },
  {
    header: "Keys",
    cell: ({ keys, refused_keys: refused }) => <Keys keys={keys} refused={refused.length} />,
    look: "figure max-sm:hidden",
  },
  {
    header: "Left out",
    cell: (provider) => <LeftOut provider={provider} />,
    look: "max-md:hidden whitespace-normal! text-xs",
  },
];

const usageColumns: readonly Column<Provider>[] = [
  {
    header: "Calls of a day",
    cell: ({ id }) => <DayCell provider={id} show="requests" />,
    look: "figure max-lg:hidden",
  },
  { header: "Answered", cell: ({ id }) => <DayCell provider={id} show="answered" />, look: "figure max-lg:hidden" },
  { header: "Credits", cell: ({ id }) => <DayCell provider={id} show="credits" />, look: "figure max-lg:hidden" },
];

const tryColumns: readonly Column<Provider>[] = [
  { header: "Test", cell: ({ id }) => <TestCall provider={id} />, look: "max-sm:hidden" },
];

function Name({ provider: { id, aliases, base_url: url, sandbox } }: { provider: Provider }) {
  return (
    <span title={url}>
      <span className="font-medium">{id}</span>
      {aliases.length > 0 && <span className="text-muted max-sm:block"> or {aliases.join(", ")}</span>}
      {sandbox && <span className="ml-2 text-xs text-muted">simulated</span>}
    </span>
  );
}

const looks = { enabled: "good", disabled: "warn", "no key": "bad" } as const;

function State({ provider: { state, disabled } }: { provider: Provider }) {
  const reason = disabled.find((each) => each.reason !== null)?.reason;
  return (
    <span title={reason ?? undefined}>
      <Badge look={looks[state]}>{state}</Badge>
    </span>
  );
}

function Keys({ keys, refused }: { keys: number; refused: number }) {
  return (
    <>
      <Count value={keys} />
      {refused > 0 && <span className="text-bad"> ({refused} refused)</span>}
    </>
  );
}

/** The models that get no calls, by hand or by themselves. */
function LeftOut({ provider: { id, disabled, left_out: leftOut } }: { provider: Provider }) {
  const models = disabled.filter(({ target }) => target !== id);
  if (models.length + leftOut.length === 0) return <Nothing />;
  return (
    <ul className="space-y-0.5">
      {models.map(({ target, until, reason }) => (
        <li key={target} title={reason ?? undefined}>
          {target} by hand
          {until !== null && (
            <>
              {" "}
              until <MomentText text={until} />
            </>
          )}
        </li>
      ))}
      {leftOut.map(({ model, until }) => (
        <li key={model}>
          {model} until <MomentText text={until} />
        </li>
      ))}
    </ul>
  );
}

interface DayCellProps {
  provider: string;
  show: "requests" | "answered" | "credits";
}

/** A figure of the last 24 hours. All cells share one request. */
function DayCell({ provider, show }: DayCellProps) {
  const from = useMemo(() => new Date(Math.floor(Date.now() / 60_000) * 60_000 - DAY_MS).toISOString(), []);
  const { data } = useApi<Usage>("/admin/v1/usage", { group_by: "provider", from });
  const group = data?.data.find((each) => each.provider === provider);
  if (group === undefined) return <Nothing />;
  if (show === "requests") return <Count value={group.requests} />;
  if (show === "credits") return <Amount value={group.credits} />;
  const answered = group.requests - group.failures;
  return <data value={answered / group.requests}>{`${((100 * answered) / group.requests).toFixed(1)} %`}</data>;
}
