/** The changes at one URL: those of all servers there. */
import type { ServerChange, WantedChanges, WatchedChanges } from "../../mcp/index.ts";
import { resourceOwner, type RelayOptions } from "../relay/relay.ts";
import { ServerError } from "../client/server-answer.ts";
import type { ToolServer } from "../tool-server.ts";

interface WatchOptions extends Pick<RelayOptions, "isSet" | "caller"> {
  /** Those whose prompts and resources the caller may have. */
  members: readonly ToolServer[];
  /** Those of which the caller may call tools. */
  callable: readonly ToolServer[];
}

/** Calls back with the changes. A resource that is not there, or whose owner cannot be found now, is not watched. */
export async function watchMembers(
  { members, callable, isSet, caller }: WatchOptions,
  { lists, uris }: WantedChanges,
  onChange: (change: ServerChange) => void,
): Promise<WatchedChanges> {
  const owned = new Map<ToolServer, string[]>();
  for (const uri of members.length === 0 ? [] : uris) {
    const owner = isSet ? await resourceOwner({ members, caller }, uri).catch(withoutOwner) : members[0];
    if (owner !== undefined) owned.set(owner, [...(owned.get(owner) ?? []), uri]);
  }
  const begun = await Promise.allSettled(
    [...new Set([...members, ...callable])].map((server) => {
      const kinds = new Set(lists.filter((list) => (list === "tools" ? callable : members).includes(server)));
      return server.watch(caller, {
        uris: owned.get(server) ?? [],
        onChange: (change) => {
          if ("uri" in change || kinds.has(change.list)) onChange(change);
        },
      });
    }),
  );
  const stop = (): void => {
    for (const each of begun) if (each.status === "fulfilled") each.value();
  };
  const failed = begun.find((each) => each.status === "rejected");
  if (failed !== undefined) {
    stop();
    throw failed.reason;
  }
  return { uris: uris.filter((uri) => [...owned.values()].some((own) => own.includes(uri))), stop };
}

function withoutOwner(thrown: unknown): undefined {
  if (thrown instanceof ServerError) return undefined;
  throw thrown;
}
