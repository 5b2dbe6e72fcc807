import { Link } from "@tanstack/react-router";
import { useApi } from "../../api/queries.ts";
import { useReach } from "../../api/use-session.ts";
import type { Generation, List } from "../../api/types.ts";
import { type Column, ListTable } from "../../lists/list-section.tsx";
import { Amount, Count, durationText } from "../../money/amount.tsx";
import { decimalOf, sum } from "../../money/decimal.ts";
import { OutcomeBadge } from "../../reports/outcome.tsx";

const PARTS_MAX = 500;

/**
 * The rounds of the model, the searches, pages and calls of tools of a call whose tools the gateway ran. Only calls of text have parts,
 * and no part has parts of its own.
 */
export function useParts({ id, dialect, parent_id: parent, user, project }: Generation) {
  const { seesAll, generations } = useReach();
  const owner = user != null ? { user } : project != null ? { project } : {};
  const { data, isLoading } = useApi<List<Generation>>(
    generations,
    { parent_id: id, ...(seesAll && owner), limit: PARTS_MAX },
    { isWanted: dialect !== null && parent === null },
  );
  return { parts: data?.data ?? [], isLoading };
}

const columns: readonly Column<Generation>[] = [
  {
    header: "Part",
    cell: ({ id, model }) => (
      <Link to={`/requests/${id}`} className="block max-w-56 truncate underline underline-offset-4">
        {model}
      </Link>
    ),
  },
  { header: "Operation", cell: ({ operation }) => operation },
  {
    header: "Outcome",
    cell: ({ outcome, status }) => <OutcomeBadge outcome={outcome} status={status} />,
    look: "max-sm:hidden",
  },
  { header: "Duration", cell: ({ latency_ms: latency }) => durationText(latency), look: "figure max-sm:hidden" },
  { header: "Credits", cell: ({ credits }) => <Amount value={credits} decimals={9} />, look: "figure" },
];

/** Each part with its own charge, and their sum. */
export function PartList({ parts }: { parts: readonly Generation[] }) {
  return (
    <section aria-label="Charge">
      <p className="mb-2 text-soft">
        The gateway ran tools of this call. Its <Count value={parts.length} /> parts together:{" "}
        <span className="font-semibold text-ink">
          <Amount value={sum(parts.map(({ credits }) => decimalOf(credits)))} /> credits
        </span>
      </p>
      <ListTable caption="The parts of the call" columns={columns} items={parts} idOf={({ id }) => id} />
    </section>
  );
}
