import { useSession } from "../../api/use-session.ts";
import { Id, MaybeMoment, Nothing } from "../../lists/cells.tsx";
import { type Column, ListSection } from "../../lists/list-section.tsx";
import type { Crawl, Job, RealtimeSession } from "../../lists/types.ts";
import { Amount, Count } from "../../money/amount.tsx";
import { Badge } from "../../ui/badge.tsx";
import { MomentText } from "../../ui/moment.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Empty } from "../../ui/states.tsx";
import { Batches } from "./batches.tsx";
import { curlOf } from "./curl-of.ts";
import { EndSession } from "./end-session.tsx";
import { SeriesId } from "./series-id.tsx";

const EVERY_MS = 10_000;

const jobColumns: readonly Column<Job>[] = [
  { header: "Job", cell: ({ id }) => <Id text={id} /> },
  { header: "Kind", cell: ({ kind }) => kind },
  { header: "State", cell: (job) => <JobState job={job} /> },
  { header: "Due", cell: ({ run_at }) => <MomentText text={run_at} />, look: "max-sm:hidden" },
  { header: "Attempts", cell: ({ attempts }) => <Count value={attempts} />, look: "figure max-sm:hidden" },
  { header: "User or project", cell: ({ user_id, project_id }) => user_id ?? project_id, look: "max-md:hidden" },
  { header: "Node", cell: ({ node }) => node ?? <Nothing />, look: "max-lg:hidden" },
  { header: "Made", cell: ({ created_at }) => <MomentText text={created_at} />, look: "max-lg:hidden" },
];

function JobState({ job: { node, attempts } }: { job: Job }) {
  if (node !== null) return <Badge look="good">running</Badge>;
  return attempts > 0 ? <Badge look="warn">waits for another try</Badge> : <Badge look="plain">waits</Badge>;
}

const crawlLooks = { scraping: "good", completed: "plain", failed: "bad", cancelled: "warn" } as const;

const crawlKinds = { crawl: "crawl", batch: "batch of pages", extract: "extraction" } as const;

const crawlColumns: readonly Column<Crawl>[] = [
  {
    header: "Id",
    cell: (crawl) => <SeriesId id={crawl.id} user={crawl.user_id} project={crawl.project_id} />,
  },
  { header: "Kind", cell: ({ kind }) => crawlKinds[kind], look: "max-md:hidden" },
  { header: "State", cell: ({ state }) => <Badge look={crawlLooks[state]}>{state}</Badge> },
  {
    header: "Pages done",
    cell: ({ completed, discovered }) => (
      <>
        <Count value={completed} /> of <Count value={discovered} />
      </>
    ),
    look: "figure max-sm:hidden",
  },
  { header: "Failed", cell: ({ failed }) => <Count value={failed} />, look: "figure max-md:hidden" },
  { header: "Credits", cell: ({ credits }) => <Amount value={credits} />, look: "figure" },
  { header: "User or project", cell: ({ user_id, project_id }) => user_id ?? project_id, look: "max-md:hidden" },
  { header: "Begun", cell: ({ created_at }) => <MomentText text={created_at} />, look: "max-lg:hidden" },
  { header: "Ended", cell: ({ ended_at }) => <MaybeMoment text={ended_at} />, look: "max-lg:hidden" },
];

const sessionColumns: readonly Column<RealtimeSession>[] = [
  {
    header: "Session",
    cell: ({ id, user, project }) => <SeriesId id={id} user={user} project={project} />,
  },
  { header: "Model", cell: ({ model }) => model },
  { header: "User or project", cell: ({ user, project }) => user ?? project ?? <Nothing />, look: "max-sm:hidden" },
  { header: "Node", cell: ({ node }) => node, look: "max-lg:hidden" },
  { header: "Open since", cell: ({ opened_at }) => <MomentText text={opened_at} />, look: "max-md:hidden" },
];

/** Work that goes on behind calls: durable jobs, crawls and their kin, batches of calls, and open realtime sessions. */
export function Page() {
  const { role } = useSession();
  const ends = role === "owner" || role === "operator";
  const end: Column<RealtimeSession> = { header: "End", cell: (session) => <EndSession session={session} /> };
  return (
    <>
      <PageHead title="Jobs" note="Work that goes on behind the calls, on all nodes." />
      <ListSection
        caption="Jobs"
        isTitled
        path="/admin/v1/jobs"
        columns={jobColumns}
        idOf={({ id }) => id}
        everyMs={EVERY_MS}
        empty={
          <Empty title="No job waits or runs" curl={curlOf("/v1/videos", videoBody)}>
            A video is one until it is ready:
          </Empty>
        }
      />
      <ListSection
        caption="Crawls, batches of pages and extractions"
        isTitled
        path="/admin/v1/crawls"
        columns={crawlColumns}
        idOf={({ id }) => id}
        everyMs={EVERY_MS}
        empty={
          <Empty title="No crawl" curl={curlOf("/v2/crawl", crawlBody)}>
            Those of the last day are listed here:
          </Empty>
        }
      />
      <Batches isOperator={ends} />
      <ListSection
        caption="Realtime sessions"
        isTitled
        path="/admin/v1/realtime_sessions"
        columns={ends ? [...sessionColumns, end] : sessionColumns}
        idOf={({ id }) => id}
        everyMs={EVERY_MS}
        empty={<Empty title="No session is open">One appears within about a second.</Empty>}
      />
    </>
  );
}

const videoBody = '{"model":"openai/sora-2","prompt":"waves at a lighthouse","seconds":"4"}';
const crawlBody = '{"url":"https://example.com/","limit":10}';
