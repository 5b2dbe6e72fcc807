import { useQueryClient } from "@tanstack/react-query";
import { send } from "../../api/client.ts";
import type { RealtimeSession } from "../../lists/types.ts";
import { Ask } from "../../ui/ask.tsx";
import { Button } from "../../ui/button.tsx";

/** Ends a realtime session, wherever it runs. */
export function EndSession({ session: { id, ending } }: { session: RealtimeSession }) {
  const client = useQueryClient();
  if (ending) return <span className="text-muted">ending</span>;
  const end = async (reason: string) => {
    await send(`/admin/v1/realtime_sessions/${encodeURIComponent(id)}`, { method: "DELETE", reason });
    await client.invalidateQueries({ queryKey: ["list"] });
  };
  return (
    <Ask
      trigger={<Button aria-label={`End session ${id}`}>End</Button>}
      title="End this session?"
      confirm="End it"
      isDangerous
      act={end}
    >
      Its client gets the error <code>session_ended</code>, and it is charged as if the client had left.
    </Ask>
  );
}
