import type { Generation } from "../../api/types.ts";
import { durationText } from "../../money/amount.tsx";

interface Span {
  name: string;
  /** Milliseconds since the request. */
  begin: number;
  end: number;
  look: string;
}

/** The parts of a call's time. */
function spansOf(call: Generation): Span[] {
  const begun = Date.parse(call.created_at);
  const attempts = (call.attempts ?? []).map(({ number, model, class: failure, started_at: start, milliseconds }) => {
    const begin = Math.max(0, Date.parse(start) - begun);
    const name = `Attempt ${number}: ${model}${failure === null ? "" : `, ${failure}`}`;
    return { name, begin, end: begin + milliseconds, look: failure === null ? "bg-series-2" : "bg-series-6" };
  });
  const first = call.time_to_first_token_ms;
  const answer =
    first === null
      ? [{ name: "Answer", begin: attempts.at(-1)?.end ?? 0, end: call.latency_ms, look: "bg-series-1" }]
      : [
          { name: "Until the first token", begin: 0, end: first, look: "bg-series-3" },
          { name: "Streaming", begin: first, end: call.latency_ms, look: "bg-series-1" },
        ];
  return [...attempts, ...answer];
}

/** What happened when, from the request to the end of its answer. */
export function Timeline({ call }: { call: Generation }) {
  const spans = spansOf(call);
  const whole = Math.max(1, call.latency_ms, ...spans.map(({ end }) => end));
  return (
    <ol className="space-y-3">
      {spans.map(({ name, begin, end, look }) => (
        <li key={name}>
          <p className="flex flex-wrap justify-between gap-x-4 text-[0.8125rem]">
            <span className="[overflow-wrap:anywhere]">{name}</span>
            <span className="figures text-muted">
              {begin > 0 && `after ${durationText(begin)}, `}
              {durationText(Math.max(0, end - begin))}
            </span>
          </p>
          <div aria-hidden="true" className="mt-1 h-2 rounded-full bg-sunken">
            <div
              style={{
                marginLeft: `${((begin / whole) * 100).toFixed(2)}%`,
                width: `max(4px, ${((Math.max(0, end - begin) / whole) * 100).toFixed(2)}%)`,
              }}
              className={`h-full rounded-full ${look}`}
            />
          </div>
        </li>
      ))}
    </ol>
  );
}
