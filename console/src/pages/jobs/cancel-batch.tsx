import { useQueryClient } from "@tanstack/react-query";
import { send } from "../../api/client.ts";
import type { Batch } from "../../lists/types.ts";
import { Ask } from "../../ui/ask.tsx";
import { Button } from "../../ui/button.tsx";

/** Ends a batch of calls that runs. */
export function CancelBatch({ batch: { id, ended_at: ended, status } }: { batch: Batch }) {
  const client = useQueryClient();
  if (ended !== null || status === "cancelling") return null;
  const cancel = async (reason: string) => {
    await send(`/admin/v1/batches/${encodeURIComponent(id)}/cancel`, { method: "POST", reason });
    await client.invalidateQueries({ queryKey: ["list"] });
  };
  return (
    <Ask
      trigger={<Button aria-label={`Cancel batch ${id}`}>Cancel</Button>}
      title="Cancel this batch?"
      confirm="Cancel it"
      isDangerous
      act={cancel}
    >
      No further line begins. The lines that have ended keep their results, and are charged.
    </Ask>
  );
}
