import { useFind } from "../../lists/find-field.tsx";
import { type Column, ListSection } from "../../lists/list-section.tsx";
import type { UnpricedModel } from "../../lists/types.ts";
import { Empty } from "../../ui/states.tsx";

const columns: readonly Column<UnpricedModel>[] = [
  { header: "Model", cell: ({ id }) => <span className="font-medium">{id}</span> },
  { header: "Provider", cell: ({ provider }) => provider },
];

/** Models that a provider lists and that have no price. Their calls are refused. */
export function UnpricedList() {
  const find = useFind();
  return (
    <ListSection
      caption="Models without a price"
      path="/admin/v1/prices/unpriced"
      columns={columns}
      idOf={({ id }) => id}
      isShown={({ id }) => id.toLowerCase().includes(find)}
      empty={<Empty title="Every model has a price">Calls of a model without one are refused.</Empty>}
    />
  );
}
