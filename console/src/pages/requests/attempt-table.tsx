import type { Attempt } from "../../api/types.ts";
import { Amount, durationText } from "../../money/amount.tsx";

/** The requests to providers that the call needed, each with the reason why there was another one. */
export function AttemptTable({ attempts }: { attempts: readonly Attempt[] }) {
  return (
    <div className="-mx-4 overflow-x-auto">
      <table className="ledger">
        <caption className="sr-only">Attempts</caption>
        <thead>
          <tr>
            <th scope="col">Attempt</th>
            <th scope="col">Model</th>
            <th scope="col">Key</th>
            <th scope="col">Result</th>
            <th scope="col" className="figure">
              Duration
            </th>
            <th scope="col" className="figure">
              Unbilled
            </th>
          </tr>
        </thead>
        <tbody>
          {attempts.map((attempt) => (
            <tr key={attempt.number}>
              <th scope="row">{attempt.number}</th>
              <td>{attempt.model}</td>
              <td>
                <code className="font-mono text-xs">{attempt.key}</code>
              </td>
              <td>
                <span className={attempt.class === null ? "text-good" : "text-bad"}>{attempt.class ?? "answered"}</span>{" "}
                <span className="figures text-muted">{attempt.status ?? "no answer"}</span>
                {attempt.codes !== undefined && (
                  <span className="block text-xs text-muted">{attempt.codes.join(", ")}</span>
                )}
              </td>
              <td className="figure">{durationText(attempt.milliseconds)}</td>
              <td className="figure">{attempt.unbilled === null ? "—" : <Amount value={attempt.unbilled} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
