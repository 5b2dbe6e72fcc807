import { Link } from "@tanstack/react-router";
import { useApi } from "../../api/queries.ts";
import type { Generation } from "../../api/types.ts";
import { Amount, Count, durationText } from "../../money/amount.tsx";

/** The price of a call that has ended, with a link to its story. */
export function CallCost({ requestId }: { requestId: string }) {
  const { data } = useApi<Generation>(`/v1/generations/${encodeURIComponent(requestId)}`);
  if (data === undefined) return null;
  const {
    credits,
    input_tokens: input,
    output_tokens: output,
    latency_ms: latency,
    time_to_first_token_ms: first,
  } = data;
  return (
    <p className="mt-2 flex flex-wrap gap-x-3 gap-y-1 text-xs text-muted">
      <Link
        to={`/requests/${requestId}`}
        className="text-soft underline decoration-line-strong underline-offset-4 hover:decoration-current"
      >
        <Amount value={credits} /> credits
      </Link>
      <span>
        <Count value={input} /> + <Count value={output} /> tokens
      </span>
      {first !== null && <span>first token after {durationText(first)}</span>}
      <span>{durationText(latency)}</span>
    </p>
  );
}
