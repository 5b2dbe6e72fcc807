import { MaybeMoment } from "../../lists/cells.tsx";
import { type Column, ListSection } from "../../lists/list-section.tsx";
import type { Batch } from "../../lists/types.ts";
import { Count } from "../../money/amount.tsx";
import { Badge } from "../../ui/badge.tsx";
import { MomentText } from "../../ui/moment.tsx";
import { Empty } from "../../ui/states.tsx";
import { CancelBatch } from "./cancel-batch.tsx";
import { curlOf } from "./curl-of.ts";
import { SeriesId } from "./series-id.tsx";

const EVERY_MS = 10_000;

/** Of states that have ended; a batch in another one goes on. */
const batchLooks: Readonly<Record<string, "plain" | "bad" | "warn">> = {
  completed: "plain",
  failed: "bad",
  expired: "bad",
  cancelling: "warn",
  cancelled: "warn",
};

const columns: readonly Column<Batch>[] = [
  {
    header: "Batch",
    cell: ({ id, user_id: user, project_id: project }) => <SeriesId id={id} user={user} project={project} />,
  },
  { header: "Model", cell: ({ model }) => model ?? "several", look: "max-sm:hidden" },
  { header: "Run by", cell: ({ provider }) => provider ?? "this gateway", look: "max-2xl:hidden" },
  { header: "State", cell: ({ status }) => <Badge look={batchLooks[status] ?? "good"}>{status}</Badge> },
  {
    header: "Lines done",
    cell: ({ lines: { total, succeeded } }) => (
      <>
        <Count value={succeeded} /> of <Count value={total} />
      </>
    ),
    look: "figure max-sm:hidden",
  },
  {
    header: "Not done",
    cell: ({ lines: { failed, cancelled, expired } }) => <Count value={failed + cancelled + expired} />,
    look: "figure max-md:hidden",
  },
  { header: "User or project", cell: ({ user_id, project_id }) => user_id ?? project_id, look: "max-md:hidden" },
  { header: "Made", cell: ({ created_at }) => <MomentText text={created_at} />, look: "max-lg:hidden" },
  { header: "Ended", cell: ({ ended_at }) => <MaybeMoment text={ended_at} />, look: "max-xl:hidden" },
];

const cancel: Column<Batch> = { header: "Cancel", cell: (batch) => <CancelBatch batch={batch} /> };

/** The batches of calls of all users. Operators cancel them. */
export function Batches({ isOperator }: { isOperator: boolean }) {
  return (
    <ListSection
      caption="Batches of calls"
      isTitled
      path="/admin/v1/batches"
      parameters={{ order: "desc" }}
      columns={isOperator ? [...columns, cancel] : columns}
      idOf={({ id }) => id}
      everyMs={EVERY_MS}
      empty={
        <Empty title="No batch" curl={batchCurl()}>
          A file of calls, each of them a line, is answered within a day:
        </Empty>
      }
    />
  );
}

const batchLine = JSON.stringify({
  custom_id: "1",
  method: "POST",
  url: "/v1/chat/completions",
  body: { model: "openai/gpt-4o-mini", messages: [{ role: "user", content: "Hello!" }] },
});
const batchBody = '{"input_file_id":"file-…","endpoint":"/v1/chat/completions","completion_window":"24h"}';

/** The file comes first; the batch names it. */
const batchCurl = (): string => `echo '${batchLine}' > calls.jsonl
curl -s ${location.origin}/v1/files -H "Authorization: Bearer $TOLLGATE_TOKEN" \\
  -F purpose=batch -F file=@calls.jsonl
${curlOf("/v1/batches", batchBody)}`;
