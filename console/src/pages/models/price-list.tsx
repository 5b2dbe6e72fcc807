import { Nothing } from "../../lists/cells.tsx";
import { useFind } from "../../lists/find-field.tsx";
import { type Column, ListSection } from "../../lists/list-section.tsx";
import type { Price } from "../../lists/types.ts";
import { Empty } from "../../ui/states.tsx";

const columns: readonly Column<Price>[] = [
  {
    header: "Models",
    cell: ({ id, prices }) => (
      <>
        <span className="font-medium">{id}</span>
        <span className="mt-0.5 block text-xs text-soft lg:hidden">
          <PriceWords prices={prices} />
        </span>
      </>
    ),
    look: "lg:min-w-64 whitespace-normal! [overflow-wrap:anywhere]",
  },
  { header: "Layer", cell: ({ layer }) => layer },
  {
    header: "Prices",
    cell: ({ prices }) => <PriceWords prices={prices} />,
    look: "max-lg:hidden whitespace-normal! min-w-96 [overflow-wrap:anywhere] text-xs text-soft",
  },
  {
    header: "Of",
    cell: ({ made }) => (made === null ? <Nothing /> : <time dateTime={made}>{made}</time>),
    look: "max-sm:hidden",
  },
  {
    header: "Source",
    cell: ({ source }) => (source === null ? <Nothing /> : <SourceText source={source} />),
    look: "max-2xl:hidden",
  },
];

function PriceWords({ prices }: Pick<Price, "prices">) {
  return Object.entries(prices)
    .filter(([, price]) => JSON.stringify(price) !== "{}")
    .map(([key, price]) => `${key} ${typeof price === "number" ? String(price) : JSON.stringify(price)}`)
    .join(" · ");
}

function SourceText({ source }: { source: string }) {
  return (
    <span title={source} className="block max-w-64 truncate text-soft">
      {source}
    </span>
  );
}

/** The prices in force, with the layer that they come from and their age. */
export function PriceList() {
  const find = useFind();
  return (
    <ListSection
      caption="Prices in force"
      path="/admin/v1/prices"
      columns={columns}
      idOf={({ id }) => id}
      isShown={({ id }) => id.toLowerCase().includes(find)}
      empty={<Empty title="No price below has this">Further ones may.</Empty>}
    />
  );
}
