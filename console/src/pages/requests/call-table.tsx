import { Link } from "@tanstack/react-router";
import { createColumnHelper, tableFeatures, useTable } from "@tanstack/react-table";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useRef, useState } from "react";
import type { Generation } from "../../api/types.ts";
import { Amount, Count, durationText } from "../../money/amount.tsx";
import { decimalOf, decimalsOf } from "../../money/decimal.ts";
import { OutcomeBadge } from "../../reports/outcome.tsx";
import { MomentText } from "../../ui/moment.tsx";

const features = tableFeatures({});
const helper = createColumnHelper<typeof features, Generation>();

/** The classes of each column's cells: figures are on the right, and small screens have the most important ones. */
const looks: Readonly<Record<string, string>> = {
  model: "max-sm:hidden",
  credits: "figure",
  user: "max-md:hidden max-w-48 truncate",
  operation: "max-2xl:hidden text-soft",
  outcome: "max-sm:hidden",
  input_tokens: "figure max-lg:hidden",
  output_tokens: "figure max-lg:hidden",
  first: "figure max-2xl:hidden",
  latency_ms: "figure max-md:hidden",
};

function columnsFor(seesAll: boolean) {
  return helper.columns([
    helper.accessor("created_at", {
      header: "Time",
      cell: ({ row: { original } }) => (
        <>
          <Link
            to={`/requests/${original.id}`}
            className="font-medium underline decoration-line-strong underline-offset-4 hover:decoration-current"
          >
            <MomentText text={original.created_at} />
          </Link>
          <span className="mt-0.5 flex max-w-44 items-center gap-1.5 text-xs text-muted sm:hidden">
            <span className="truncate">{original.model}</span>
            {original.outcome !== "complete" && <span className="text-bad">{original.outcome}</span>}
          </span>
        </>
      ),
    }),
    helper.accessor("model", { header: "Model", cell: ({ getValue }) => <ModelCell model={getValue()} /> }),
    helper.accessor("credits", { header: "Credits" }),
    ...(seesAll
      ? [helper.accessor(({ user, project }) => user ?? project ?? "", { id: "user", header: "User or project" })]
      : []),
    helper.accessor("operation", { header: "Operation" }),
    helper.accessor("outcome", {
      header: "Outcome",
      cell: ({ row: { original } }) => <OutcomeBadge outcome={original.outcome} status={original.status} />,
    }),
    helper.accessor("input_tokens", { header: "Input", cell: ({ getValue }) => <Count value={getValue()} /> }),
    helper.accessor("output_tokens", { header: "Output", cell: ({ getValue }) => <Count value={getValue()} /> }),
    helper.accessor(({ time_to_first_token_ms: first }) => (first === null ? "" : durationText(first)), {
      id: "first",
      header: "First token",
    }),
    helper.accessor(({ latency_ms: latency }) => durationText(latency), { id: "latency_ms", header: "Duration" }),
  ]);
}

const ofEverybody = columnsFor(true);
const ofOneself = columnsFor(false);

function ModelCell({ model }: { model: string }) {
  return (
    <span className="block max-w-56 truncate" title={model}>
      {model}
    </span>
  );
}

const ROW_PIXELS = 45;

interface CallTableProps {
  calls: readonly Generation[];
  seesAll: boolean;
}

/** Calls as rows, of which those in sight are in the document. */
export function CallTable({ calls, seesAll }: CallTableProps) {
  const columns = seesAll ? ofEverybody : ofOneself;
  const table = useTable({ features, columns, data: calls, getRowId: ({ id }) => id });
  const { rows } = table.getRowModel();
  const body = useRef<HTMLTableSectionElement>(null);
  const [scrollMargin, setScrollMargin] = useState(0);
  useLayoutEffect(() => setScrollMargin((body.current?.getBoundingClientRect().top ?? 0) + scrollY), []);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_PIXELS,
    overscan: 12,
    scrollMargin,
    getItemKey: (index) => rows[index]?.id ?? index,
  });
  const items = virtual.getVirtualItems();
  const above = (items[0]?.start ?? scrollMargin) - scrollMargin;
  const below = virtual.getTotalSize() - ((items.at(-1)?.end ?? scrollMargin) - scrollMargin);
  const decimals = decimalsOf(calls.map(({ credits }) => decimalOf(credits)));
  return (
    <div className="card overflow-x-auto">
      <table className="ledger" aria-rowcount={rows.length}>
        <caption className="sr-only">Calls, the newest first</caption>
        <thead>
          <tr>
            {table.getFlatHeaders().map((header) => (
              <th key={header.id} scope="col" className={looks[header.column.id] ?? ""}>
                <table.FlexRender header={header} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          <Spacer height={above} columns={columns.length} />
          {items.map(({ index }) => {
            const row = rows[index];
            return (
              row && (
                <tr key={row.id} ref={virtual.measureElement} data-index={index} aria-rowindex={index + 1}>
                  {row.getAllCells().map((cell) => (
                    <td key={cell.id} className={looks[cell.column.id] ?? ""}>
                      {cell.column.id === "credits" ? (
                        <Amount value={row.original.credits} decimals={decimals} />
                      ) : (
                        <table.FlexRender cell={cell} />
                      )}
                    </td>
                  ))}
                </tr>
              )
            );
          })}
          <Spacer height={below} columns={columns.length} />
        </tbody>
      </table>
    </div>
  );
}

/** Has the height of the rows that are out of sight. */
function Spacer({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden="true">
      <td colSpan={columns} style={{ height, padding: 0 }} />
    </tr>
  );
}
