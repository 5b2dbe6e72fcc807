import { type ReactNode, useId } from "react";
import type { Parameters } from "../api/client.ts";
import { Button } from "../ui/button.tsx";
import { ErrorState, Skeleton, StaleNote } from "../ui/states.tsx";
import { useList } from "./use-list.ts";

/** A column of a table. */
export interface Column<Item> {
  header: string;
  cell: (item: Item) => ReactNode;
  /** Classes of its cells: figures are on the right, and small screens leave the less important ones out. */
  look?: string;
}

interface ListSectionProps<Item> {
  /** Read out before the table, and shown above it if the page has several. */
  caption: string;
  isTitled?: boolean;
  /** Fields that choose what is listed. */
  controls?: ReactNode;
  path: string;
  parameters?: Parameters;
  columns: readonly Column<Item>[];
  idOf: (item: Item) => string | number;
  /** Shown if there is nothing. */
  empty: ReactNode;
  everyMs?: number;
  /** Leaves items out. */
  isShown?: (item: Item) => boolean;
  /** The text of the button for further items. */
  more?: string;
}

/** A list of the API as a table, with its other states: on its way, failed, stale, empty. */
export function ListSection<Item>(props: ListSectionProps<Item>) {
  const { caption, isTitled = false, path, parameters = {}, idOf, empty, everyMs, isShown, more = "Show more" } = props;
  const query = useList<Item>(path, { parameters, markOf: idOf, ...(everyMs !== undefined && { everyMs }) });
  const { data, error, refetch, dataUpdatedAt, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const id = useId();
  const retry = () => void refetch();
  const items = data?.flatMap((page) => page.data).filter((item) => isShown?.(item) ?? true);
  return (
    <section {...(isTitled ? { "aria-labelledby": id } : { "aria-label": caption })} className="mb-8">
      {isTitled && (
        <h2 id={id} className="mb-2 text-[0.9375rem] font-semibold">
          {caption}
        </h2>
      )}
      {props.controls}
      {items === undefined &&
        (error === null ? <Skeleton className="h-64" /> : <ErrorState error={error} retry={retry} />)}
      {items !== undefined && error !== null && <StaleNote since={dataUpdatedAt} retry={retry} />}
      {items?.length === 0 && empty}
      {items !== undefined && items.length > 0 && (
        <ListTable caption={caption} columns={props.columns} items={items} idOf={idOf} />
      )}
      {hasNextPage && (
        <div className="mt-4 text-center">
          <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {more}
          </Button>
        </div>
      )}
    </section>
  );
}

interface ListTableProps<Item> {
  caption: string;
  columns: readonly Column<Item>[];
  items: readonly Item[];
  idOf: (item: Item) => string | number;
}

export function ListTable<Item>({ caption, columns, items, idOf }: ListTableProps<Item>) {
  return (
    <div className="card overflow-x-auto" tabIndex={0} role="group" aria-label={caption}>
      <table className="ledger">
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ header, look }) => (
              <th key={header} scope="col" className={look}>
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={idOf(item)}>
              {columns.map(({ header, cell, look }) => (
                <td key={header} className={look}>
                  {cell(item)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
