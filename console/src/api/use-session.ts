import { useQuery, useQueryClient } from "@tanstack/react-query";
import { fetchSession, type Reach, reachOf, sessionKey } from "./session.ts";
import type { Session } from "./types.ts";

/** Of the signed-in user. The frame shows pages only if there is one. */
export function useSession(): Session {
  const client = useQueryClient();
  const { data } = useQuery({ queryKey: sessionKey, queryFn: fetchSession, staleTime: 60_000 });
  const session = data ?? client.getQueryData<Session>(sessionKey);
  if (session === undefined || session === null) throw new Error("nobody is signed in");
  return session;
}

/** Where the signed-in user's reports and calls are read. */
export const useReach = (): Reach => reachOf(useSession());
