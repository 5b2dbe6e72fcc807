import { useApi } from "../../api/queries.ts";
import type { List } from "../../api/types.ts";
import { type Column, ListSection } from "../../lists/list-section.tsx";
import type { Node } from "../../lists/types.ts";
import { Icon } from "../../ui/icon.tsx";
import { MomentText } from "../../ui/moment.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Empty } from "../../ui/states.tsx";

const EVERY_MS = 10_000;
const PATH = "/admin/v1/nodes";

const columns: readonly Column<Node>[] = [
  { header: "Node", cell: ({ id }) => <span className="font-medium">{id}</span> },
  { header: "Version", cell: ({ version }) => version },
  { header: "Host", cell: ({ host }) => host, look: "max-md:hidden" },
  { header: "Process", cell: ({ pid }) => pid, look: "figure max-md:hidden" },
  { header: "Started", cell: ({ started_at }) => <MomentText text={started_at} />, look: "max-sm:hidden" },
  { header: "Last sign of life", cell: ({ seen_at }) => <MomentText text={seen_at} /> },
];

/** The gateways of the storage, and the settings in which they differ. */
export function Page() {
  return (
    <>
      <PageHead title="Nodes" note="The gateways that share this storage." />
      <Differences />
      <ListSection
        caption="Nodes"
        path={PATH}
        columns={columns}
        idOf={({ id }) => id}
        everyMs={EVERY_MS}
        empty={<Empty title="No node">A node is here while it runs.</Empty>}
      />
    </>
  );
}

function Differences() {
  const { data } = useApi<List<Node> & { differences: string[] }>(PATH, { limit: 1 }, { everyMs: EVERY_MS });
  if (data === undefined || data.differences.length === 0) return null;
  return (
    <p role="status" className="mb-4 flex gap-2 rounded-lg bg-warn-wash px-3 py-2 text-warn">
      <Icon name="warning" />
      <span>The nodes differ in {data.differences.join(", ")}. Calls may be answered differently by each.</span>
    </p>
  );
}
