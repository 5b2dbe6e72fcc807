import { Id, Nothing } from "../../lists/cells.tsx";
import { type Column, ListSection } from "../../lists/list-section.tsx";
import type { AuditRow } from "../../lists/types.ts";
import { FindField, useFind } from "../../lists/find-field.tsx";
import { MomentText } from "../../ui/moment.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Empty } from "../../ui/states.tsx";
import { ChangeView } from "./change-view.tsx";
import { Verify } from "./verify.tsx";

const columns: readonly Column<AuditRow>[] = [
  { header: "Number", cell: ({ number }) => number, look: "figure max-2xl:hidden" },
  { header: "Time", cell: ({ at }) => <MomentText text={at} /> },
  { header: "By", cell: ({ actor }) => actor, look: "max-sm:hidden" },
  {
    header: "Act",
    cell: ({ act, actor }) => (
      <>
        <span className="font-medium">{act}</span>
        <span className="block text-xs text-muted sm:hidden">{actor}</span>
      </>
    ),
  },
  { header: "On", cell: ({ target }) => <Id text={target} />, look: "max-sm:hidden" },
  {
    header: "Change",
    cell: ({ before, after }) => <ChangeView before={before} after={after} />,
    look: "max-md:hidden whitespace-normal! min-w-56",
  },
  { header: "Reason", cell: ({ reason }) => reason ?? <Nothing />, look: "max-lg:hidden whitespace-normal!" },
  { header: "Address", cell: ({ address }) => address ?? <Nothing />, look: "max-2xl:hidden" },
];

/** Every change, the newest first. */
export function Page() {
  const find = useFind();
  const isShown = ({ actor, act, target, reason }: AuditRow): boolean =>
    `${actor} ${act} ${target} ${reason ?? ""}`.toLowerCase().includes(find);
  return (
    <>
      <PageHead
        title="Audit"
        note="Every change, the newest first. Each row has the hash of the row before."
        actions={<Verify />}
      />
      <div className="mb-4">
        <FindField label="Find in the rows below" placeholder="A user, an act, an account" />
      </div>
      <ListSection
        caption="Audit log"
        path="/admin/v1/audit"
        columns={columns}
        idOf={({ number }) => number}
        isShown={isShown}
        more="Older rows"
        empty={
          <Empty title={find === "" ? "Nothing was changed yet" : "No row below has this"}>
            {find === "" ? "Each change of an account, a limit or the configuration makes a row." : "Older rows may."}
          </Empty>
        }
      />
    </>
  );
}
