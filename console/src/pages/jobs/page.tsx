import { Link } from "@tanstack/react-router";
import { useReach, useSession } from "../../api/use-session.ts";
import { Id, MaybeMoment, Nothing } from "../../lists/cells.tsx";
import { type Column, ListSection } from "../../lists/list-section.tsx";
import type { Crawl, Job, RealtimeSession } from "../../lists/types.ts";
import { Amount, Count } from "../../money/amount.tsx";
import { Badge } from "../../ui/badge.tsx";
import { MomentText } from "../../ui/moment.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Empty } from "../../ui/states.tsx";
import { EndSession } from "./end-session.tsx";

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

/** Leads to the calls of a crawl or a session of a user or a project, for those who may see them. */
function SeriesId({ id, user, project }: { id: string; user: string | null; project: string | null }) {
  const { seesAll } = useReach();
  if (!seesAll) return <Id text={id} />;
  const owner = user === null ? project !== null && { project } : { user };
  return (
    <Link to="/requests" search={{ parent_id: id, ...owner }} className="underline underline-offset-4">
      <Id text={id} />
    </Link>
  );
}

const crawlLooks = { scraping: "good", completed: "plain", failed: "bad", cancelled: "warn" } as const;

const crawlColumns: readonly Column<Crawl>[] = [
  {
    header: "Crawl or batch",
    cell: (crawl) => <SeriesId id={crawl.id} user={crawl.user_id} project={crawl.project_id} />,
  },
  { header: "Kind", cell: ({ kind }) => kind, look: "max-md:hidden" },
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

/** Work that goes on behind calls: durable jobs, crawls and batches, and open realtime sessions. */
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
        caption="Crawls and batches"
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

function curlOf(path: string, body: string): string {
  return `curl -s ${location.origin}${path} \\
  -H "Authorization: Bearer $TOLLGATE_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '${body}'`;
}
