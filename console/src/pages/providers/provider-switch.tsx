import { useQueryClient } from "@tanstack/react-query";
import { send } from "../../api/client.ts";
import type { Provider } from "../../lists/types.ts";
import { Ask } from "../../ui/ask.tsx";
import { Button } from "../../ui/button.tsx";

/** Keeps new calls from a provider, or ends that. */
export function ProviderSwitch({ provider: { id, disabled } }: { provider: Provider }) {
  const client = useQueryClient();
  const isOff = disabled.some(({ target }) => target === id);
  const change = async (reason: string) => {
    const body = { disabled: !isOff, ...(reason !== "" && { reason }) };
    await send(`/admin/v1/providers/${encodeURIComponent(id)}`, { method: "PATCH", body });
    await client.invalidateQueries({ queryKey: ["list"] });
  };
  const word = isOff ? "Enable" : "Disable";
  return (
    <Ask
      trigger={<Button aria-label={`${word} ${id}`}>{word}</Button>}
      title={`${word} ${id}?`}
      confirm={word}
      isDangerous={!isOff}
      act={change}
    >
      {isOff
        ? "It gets new calls again, on all nodes within a second."
        : "It gets no new calls, on all nodes within a second. Calls under way go on; routes ask their next targets."}
    </Ask>
  );
}
