import { MaybeMoment, Nothing } from "../../lists/cells.tsx";
import { type Column, ListSection } from "../../lists/list-section.tsx";
import type { Alert } from "../../lists/types.ts";
import { Badge } from "../../ui/badge.tsx";
import { MomentText } from "../../ui/moment.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Empty } from "../../ui/states.tsx";

const EVERY_MS = 15_000;

const columns: readonly Column<Alert>[] = [
  { header: "Rule", cell: ({ rule }) => <span className="font-medium">{rule}</span> },
  {
    header: "State",
    cell: ({ state }) => <Badge look={state === "open" ? "bad" : "warn"}>{state}</Badge>,
  },
  { header: "About", cell: ({ account, node }) => account ?? node },
  { header: "Period", cell: ({ period }) => period ?? <Nothing />, look: "max-lg:hidden" },
  { header: "Value", cell: ({ value }) => value, look: "figure" },
  { header: "Threshold", cell: ({ threshold }) => threshold ?? <Nothing />, look: "figure max-md:hidden" },
  { header: "Since", cell: ({ since }) => <MomentText text={since} />, look: "max-sm:hidden" },
  { header: "Notified", cell: ({ opened_at }) => <MaybeMoment text={opened_at} />, look: "max-lg:hidden" },
];

/** The alerts that are open, and those that will be if their cause stays. */
export function Page() {
  return (
    <>
      <PageHead title="Alerts" note="Each is sent once when it begins, and once when it is over." />
      <ListSection
        caption="Alerts"
        path="/admin/v1/alerts"
        columns={columns}
        idOf={({ id }) => id}
        everyMs={EVERY_MS}
        empty={
          <Empty title="Nothing is wrong">
            No alert is open or pending. Their rules and receivers are in the configuration, under <code>alerts</code>:{" "}
            <a href="/docs/alerts" className="underline underline-offset-4">
              Alerts
            </a>
            .
          </Empty>
        }
      />
    </>
  );
}
