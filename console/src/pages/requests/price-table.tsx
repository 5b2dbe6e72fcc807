import type { Generation, Prices } from "../../api/types.ts";
import { Amount, Count } from "../../money/amount.tsx";
import { Skeleton } from "../../ui/states.tsx";
import { billOf } from "./price-lines.ts";

interface PriceTableProps {
  call: Generation;
  prices: Prices | null | undefined;
  isLoading: boolean;
}

/** The bill of a call, line by line: units × price = credits. */
export function PriceTable({ call, prices, isLoading }: PriceTableProps) {
  if (isLoading) return <Skeleton className="h-32" />;
  const { lines, sum, isCharge } = billOf(call, prices);
  return (
    <div className="-mx-4 overflow-x-auto">
      <table className="ledger">
        <caption className="sr-only">The charge, line by line</caption>
        <thead>
          <tr>
            <th scope="col">Units</th>
            <th scope="col" className="figure">
              Count
            </th>
            <th scope="col" className="figure max-sm:hidden">
              Price
            </th>
            <th scope="col" className="figure">
              Credits
            </th>
          </tr>
        </thead>
        <tbody>
          {lines.map(({ name, count, price, perText, credits }) => (
            <tr key={name}>
              <th scope="row" className="whitespace-normal!">
                {name}
              </th>
              <td className="figure">
                <Count value={count} />
              </td>
              <td className="figure text-soft max-sm:hidden">
                {price === undefined ? (
                  "—"
                ) : (
                  <>
                    <Amount value={price} /> a {perText}
                  </>
                )}
              </td>
              <td className="figure">{credits === undefined ? "—" : <Amount value={credits} decimals={9} />}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Charged</th>
            <td />
            <td className="max-sm:hidden" />
            <td className="figure">
              <Amount value={call.credits} decimals={9} />
            </td>
          </tr>
        </tfoot>
      </table>
      {isCharge === false && (
        <p className="px-4 pt-3 text-muted">
          By today’s prices the lines make <Amount value={sum} />. The charge is by those that were in force at the
          call’s beginning, and some depend on its length, its speed or how it ended.
        </p>
      )}
      {isCharge === undefined && (
        <p className="px-4 pt-3 text-muted">
          {prices == null
            ? "No price list has these units: the operator’s configuration prices pages, searches and tools."
            : "The prices of this model depend on a call’s length, variant or speed, so that no line has one of its own."}
        </p>
      )}
    </div>
  );
}
