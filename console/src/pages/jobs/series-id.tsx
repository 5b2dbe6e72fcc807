import { Link } from "@tanstack/react-router";
import { useReach } from "../../api/use-session.ts";
import { Id } from "../../lists/cells.tsx";

interface SeriesIdProps {
  id: string;
  user: string | null;
  project: string | null;
}

/** Leads to the calls of a crawl, a batch or a session of a user or a project, for those who may see them. */
export function SeriesId({ id, user, project }: SeriesIdProps) {
  const { seesAll } = useReach();
  if (!seesAll) return <Id text={id} />;
  const owner = user === null ? project !== null && { project } : { user };
  return (
    <Link to="/requests" search={{ parent_id: id, ...owner }} className="underline underline-offset-4">
      <Id text={id} />
    </Link>
  );
}
