import { useMutation, useQueryClient } from "@tanstack/react-query";
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
  const compare = useMutation({
    mutationFn: () => request<List<Reload>>(`${PATH}?dry_run=true`, { method: "POST", body: {} }),
  });
  const reload = async (reason: string) => {
    const { data } = await request<List<Reload>>(PATH, { method: "POST", body: {}, reason });
    setOutcome(data);
    await client.invalidateQueries();
  };
  return (
    <section aria-label="The configuration file" className="card mb-5 flex flex-wrap items-center gap-x-4 gap-y-2 p-4">
      <p className="min-w-60 flex-1 text-soft">
        A changed file is in force after a reload, but for what needs a restart, which the outcome names.
      </p>
      <Button
        disabled={compare.isPending}
        onClick={() => {
          setOutcome(undefined);
          compare.mutate();
        }}
      >
        Compare with the file
      </Button>
      <Ask trigger={<Button>Reload…</Button>} title="Read the configuration again?" confirm="Reload" act={reload}>
        All nodes read their files. Calls under way keep the configuration that they have begun with. A file with a
        mistake changes nothing.
      </Ask>
      {outcome !== undefined && <Outcomes outcomes={outcome} isComparison={false} />}
      {outcome === undefined && compare.data !== undefined && <Outcomes outcomes={compare.data.data} isComparison />}
      {compare.error !== null && (
        <p role="alert" className="w-full text-bad">
          {compare.error.message}
        </p>
      )}
    </section>
  );
}

interface OutcomesProps {
  outcomes: readonly Reload[];
  /** Of a comparison, after which the configuration in force is the same as before. */
  isComparison: boolean;
}

function Outcomes({ outcomes, isComparison }: OutcomesProps) {
  return (
    <div role="status" className="w-full border-t border-line pt-3">
      <ul className="space-y-2">
        {outcomes.map((each) => (
          <Outcome key={each.node} reload={each} isComparison={isComparison} />
        ))}
      </ul>
    </div>
  );
}

function Outcome({ reload, isComparison }: { reload: Reload } & Pick<OutcomesProps, "isComparison">) {
  const { node, ok, changed, need_restart, error } = reload;
  const isSame = changed.length + need_restart.length === 0;
  const words = [
    changed.length === 0
      ? isComparison
        ? "a reload changes nothing"
        : "nothing has changed"
      : `${isComparison ? "a reload changes" : "changed"}: ${changed.join(", ")}`,
    ...(need_restart.length === 0 ? [] : [`needs a restart: ${need_restart.join(", ")}`]),
  ];
  const done = isComparison ? (isSame ? "the same" : "differs") : "reloaded";
  return (
    <li className="flex flex-wrap items-baseline gap-x-3">
      <Badge look={ok ? ((isComparison ? isSame : need_restart.length === 0) ? "good" : "warn") : "bad"}>
        {ok ? done : "refused"}
      </Badge>
      <span className="font-medium">{node}</span>
      <span className="text-soft [overflow-wrap:anywhere]">{error ?? words.join("; ")}</span>
    </li>
  );
}
