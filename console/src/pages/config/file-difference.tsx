import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/client.ts";
import type { List } from "../../api/types.ts";
import type { Reload } from "../../lists/types.ts";
import { Ask } from "../../ui/ask.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";

const PATH = "/admin/v1/config/reload";

/** Lets all nodes read their files again. */
export function FileDifference() {
  const client = useQueryClient();
  const [outcome, setOutcome] = useState<readonly Reload[]>();
  const reload = async (reason: string) => {
    const { data } = await request<List<Reload>>(PATH, { method: "POST", body: {}, reason });
    setOutcome(data);
    await client.invalidateQueries();
  };
  return (
    <section aria-label="The configuration file" className="card mb-5 flex flex-wrap items-center gap-x-4 gap-y-2 p-4">
      <p className="min-w-0 flex-1 text-soft">
        A changed file is in force after a reload, but for what needs a restart, which the outcome names.
      </p>
      <Ask trigger={<Button>Reload…</Button>} title="Read the configuration again?" confirm="Reload" act={reload}>
        All nodes read their files. Calls under way keep the configuration that they have begun with. A file with a
        mistake changes nothing.
      </Ask>
      {outcome !== undefined && (
        <div role="status" className="w-full border-t border-line pt-3">
          <ul className="space-y-2">
            {outcome.map((each) => (
              <Outcome key={each.node} reload={each} />
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}

function Outcome({ reload: { node, ok, changed, need_restart, error } }: { reload: Reload }) {
  const words = [
    changed.length === 0 ? "nothing has changed" : `changed: ${changed.join(", ")}`,
    ...(need_restart.length === 0 ? [] : [`needs a restart: ${need_restart.join(", ")}`]),
  ];
  return (
    <li className="flex flex-wrap items-baseline gap-x-3">
      <Badge look={ok ? (need_restart.length === 0 ? "good" : "warn") : "bad"}>{ok ? "reloaded" : "refused"}</Badge>
      <span className="font-medium">{node}</span>
      <span className="text-soft [overflow-wrap:anywhere]">{error ?? words.join("; ")}</span>
    </li>
  );
}
