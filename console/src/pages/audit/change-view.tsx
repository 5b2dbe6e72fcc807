import { Nothing } from "../../lists/cells.tsx";
import { changesOf } from "./changes.ts";

interface ChangeViewProps {
  before: Readonly<Record<string, unknown>> | null;
  after: Readonly<Record<string, unknown>> | null;
}

const SHOWN_MAX = 6;

/** The fields that an act has changed, with their values before and after. */
export function ChangeView({ before, after }: ChangeViewProps) {
  const changes = changesOf(before, after);
  if (changes.length === 0) return <Nothing />;
  return (
    <ul className="space-y-0.5 text-xs">
      {changes.slice(0, SHOWN_MAX).map(({ field, from, to }) => (
        <li key={field} className="[overflow-wrap:anywhere]">
          <span className="text-muted">{field}</span>{" "}
          {from !== undefined && <del className="rounded bg-bad-wash px-1 text-bad no-underline">{from}</del>}{" "}
          {to !== undefined && <ins className="rounded bg-good-wash px-1 text-good no-underline">{to}</ins>}
        </li>
      ))}
      {changes.length > SHOWN_MAX && <li className="text-muted">and {changes.length - SHOWN_MAX} more</li>}
    </ul>
  );
}
