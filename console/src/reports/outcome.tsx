import type { Outcome } from "../api/types.ts";

const looks: Readonly<Record<Outcome, string>> = {
  complete: "bg-good-wash text-good",
  failed: "bg-bad-wash text-bad",
  interrupted: "bg-bad-wash text-bad",
  expired: "bg-bad-wash text-bad",
  abandoned: "bg-warn-wash text-warn",
};

interface OutcomeBadgeProps {
  outcome: Outcome;
  /** The HTTP status of the answer, if there was one. */
  status: number | null;
}

/** How a call ended. */
export function OutcomeBadge({ outcome, status }: OutcomeBadgeProps) {
  return (
    <span className={`inline-flex items-center gap-1.5 rounded-md px-1.5 py-0.5 text-xs font-medium ${looks[outcome]}`}>
      {outcome}
      {status !== null && <span className="figures font-normal">{status}</span>}
    </span>
  );
}
