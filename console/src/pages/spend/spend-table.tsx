import { Link } from "@tanstack/react-router";
import {
  createColumnHelper,
  createSortedRowModel,
  rowSortingFeature,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { useMemo } from "react";
import { Amount, Count } from "../../money/amount.tsx";
import { compare, type Decimal, decimalsOf, numberOf, ratio } from "../../money/decimal.ts";
import { seriesFill } from "../../plots/colors.ts";
import { groupingText } from "../../reports/dimensions.ts";
import { Change } from "../../reports/change.tsx";
import { isMoney, type Metric, metrics } from "../../reports/metrics.ts";
import { Icon } from "../../ui/icon.tsx";
import type { Report } from "./report.ts";
import type { SpendRow } from "./spend-rows.ts";

const features = tableFeatures({ rowSortingFeature, sortedRowModel: createSortedRowModel() });
const helper = createColumnHelper<typeof features, SpendRow>();

interface FigureProps {
  value: Decimal;
  metric: Metric;
  /** Of an amount. */
  decimals: number;
}

function Figure({ value, metric, decimals }: FigureProps) {
  return isMoney(metric) ? <Amount value={value} decimals={decimals} /> : <Count value={numberOf(value)} />;
}

const byDecimal = (read: (row: SpendRow) => Decimal) => (one: { original: SpendRow }, other: { original: SpendRow }) =>
  compare(read(one.original), read(other.original));

/** The metric of the report first, then the others, without list prices unless they are asked for. */
function figuresOf(metric: Metric): Metric[] {
  const rest: Metric[] = ["credits", "requests", "failures", "input_tokens", "output_tokens"];
  return [metric, ...rest.filter((each) => each !== metric)];
}

function columnsOf({ group, subgroup, metric }: Report) {
  const names = [group, ...(subgroup === undefined ? [] : [subgroup])];
  return helper.columns([
    ...names.map((grouping, index) =>
      helper.accessor((row) => row.names[index] ?? "", {
        id: grouping,
        header: groupingText(grouping),
        sortFn: (one, other) => (one.original.names[index] ?? "").localeCompare(other.original.names[index] ?? ""),
      }),
    ),
    ...figuresOf(metric).map((each) =>
      helper.accessor((row) => row.sums[each], {
        id: each,
        header: metrics[each],
        sortDescFirst: true,
        sortFn: byDecimal((row) => row.sums[each]),
      }),
    ),
    helper.accessor((row) => row.before, { id: "before", header: "Against before", enableSorting: false }),
  ]);
}

interface SpendTableProps {
  report: Report;
  rows: readonly SpendRow[];
  total: Record<Metric, Decimal>;
  totalBefore: Decimal | undefined;
}

/** The groups with all their figures. The last row is the API's total. */
export function SpendTable({ report, rows, total, totalBefore }: SpendTableProps) {
  const { group, subgroup, metric } = report;
  const columns = useMemo(() => columnsOf(report), [group, subgroup, metric]);
  const table = useTable({ features, columns, data: rows, getRowId: ({ key }) => key });
  const names = subgroup === undefined ? 1 : 2;
  const first = figuresOf(metric);
  const decimals = decimalsOf(
    [...rows.map(({ sums }) => sums), total].flatMap((sums) => [sums.credits, sums.list_credits]),
  );
  return (
    <div className="card overflow-x-auto">
      <table className="ledger">
        <caption className="sr-only">
          {metrics[metric]} by {groupingText(group).toLowerCase()}
        </caption>
        <thead>
          <tr>
            {table.getFlatHeaders().map((header, index) => (
              <HeadCell
                key={header.id}
                isFigure={index >= names}
                direction={header.column.getIsSorted()}
                onSort={header.column.getCanSort() ? header.column.getToggleSortingHandler() : undefined}
              >
                <table.FlexRender header={header} />
              </HeadCell>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.getRowModel().rows.map(({ id, original }) => (
            <BodyRow
              key={id}
              row={original}
              report={report}
              decimals={decimals}
              figures={first}
              whole={total[metric]}
            />
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" colSpan={names} className="text-left">
              Total
            </th>
            {first.map((each) => (
              <td key={each} className="figure">
                <Figure value={total[each]} metric={each} decimals={decimals} />
              </td>
            ))}
            <td className="figure">
              <Change now={total[metric]} before={totalBefore} />
            </td>
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

interface HeadCellProps {
  isFigure: boolean;
  direction: false | "asc" | "desc";
  onSort: ((event: unknown) => void) | undefined;
  children: React.ReactNode;
}

function HeadCell({ isFigure, direction, onSort, children }: HeadCellProps) {
  const sorted = direction === false ? undefined : direction === "asc" ? "ascending" : "descending";
  return (
    <th scope="col" aria-sort={sorted} className={isFigure ? "figure" : ""}>
      {onSort === undefined ? (
        children
      ) : (
        <button type="button" onClick={onSort} className="inline-flex items-center gap-1 hover:text-ink">
          {children}
          {direction !== false && <Icon name={direction === "asc" ? "up" : "down"} className="size-3.5" />}
        </button>
      )}
    </th>
  );
}

interface BodyRowProps {
  row: SpendRow;
  report: Report;
  decimals: number;
  figures: readonly Metric[];
  whole: Decimal;
}

function BodyRow({ row, report, decimals, figures, whole }: BodyRowProps) {
  const { metric } = report;
  const share = ratio(row.sums[metric], whole);
  return (
    <tr>
      {row.names.map((name, index) =>
        index === 0 ? (
          <th key={index} scope="row" className="max-w-80 min-w-44">
            <span className="flex items-center gap-2.5">
              <span aria-hidden="true" className={`size-2.5 shrink-0 rounded-[3px] ${seriesFill[row.color]}`} />
              <span className="truncate" title={name}>
                {name}
              </span>
            </span>
          </th>
        ) : (
          <td key={index} className="max-w-64 truncate text-soft">
            {name}
          </td>
        ),
      )}
      {figures.map((each, index) => (
        <td key={each} className="figure">
          <FigureLink row={row} report={report} metric={each} decimals={decimals} />
          {index === 0 && (
            <span aria-hidden="true" className="mt-1 block h-1 min-w-24 overflow-hidden rounded-full bg-sunken">
              <span
                style={{ width: `${(share * 100).toFixed(2)}%` }}
                className={`block h-full rounded-full ${seriesFill[row.color]}`}
              />
            </span>
          )}
        </td>
      ))}
      <td className="figure">
        <Change now={row.sums[metric]} before={row.before} />
      </td>
    </tr>
  );
}

/** A figure, which opens onto the calls that it consists of. */
function FigureLink({
  row,
  report,
  metric,
  decimals,
}: {
  row: SpendRow;
  report: Report;
  metric: Metric;
  decimals: number;
}) {
  const figure = <Figure value={row.sums[metric]} metric={metric} decimals={decimals} />;
  const search = callsOf(row, report);
  if (search === undefined || row.sums[metric].units === 0n) return figure;
  const failed = metric === "failures" ? { status: "failed" } : {};
  return (
    <Link
      to="/requests"
      search={{ ...search, ...failed }}
      className="underline decoration-transparent underline-offset-4 hover:decoration-current"
    >
      {figure}
    </Link>
  );
}

/** The filter of a row's calls; undefined if the API has none, as of calls without a session. */
function callsOf(
  { values }: SpendRow,
  { group, subgroup, period, filters }: Report,
): Record<string, string> | undefined {
  if (values === undefined) return undefined;
  const names = subgroup === undefined ? [group] : [group, subgroup];
  const own: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    const value = values[index];
    if (value === null || value === undefined) return undefined;
    own[name] = value;
  }
  return { ...filters, ...own, ...period };
}
