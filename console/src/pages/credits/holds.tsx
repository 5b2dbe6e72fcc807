import { Id } from "../../lists/cells.tsx";
import { type Column, ListSection } from "../../lists/list-section.tsx";
import { Amount } from "../../money/amount.tsx";
import { MomentText } from "../../ui/moment.tsx";
import { Empty } from "../../ui/states.tsx";
import { type Hold, ownerOf } from "./types.ts";

const EVERY_MS = 10_000;

const columns: readonly Column<Hold>[] = [
  { header: "Since", cell: ({ created_at }) => <MomentText text={created_at} /> },
  { header: "Call", cell: ({ id }) => <Id text={id} />, look: "max-md:hidden" },
  { header: "Whose", cell: ownerOf },
  { header: "Operation", cell: ({ operation }) => operation, look: "max-lg:hidden" },
  { header: "Model", cell: ({ model }) => model, look: "max-lg:hidden" },
  { header: "Held", cell: ({ amount }) => <Amount value={amount} />, look: "figure" },
  { header: "Used so far", cell: ({ observed }) => <Amount value={observed} />, look: "figure max-sm:hidden" },
];

/** The credits that calls under way have reserved. */
export function Holds() {
  return (
    <ListSection
      caption="Open holds"
      isTitled
      path="/admin/v1/holds"
      columns={columns}
      idOf={({ id }) => id}
      everyMs={EVERY_MS}
      empty={<Empty title="Nothing is held">A call holds the credits that it may cost while it runs.</Empty>}
    />
  );
}
