import { useApi } from "../api/queries.ts";
import { organisationsQuery } from "./organisations.ts";
import { useReach } from "../api/use-session.ts";
import type { List } from "../api/types.ts";
import type { Grouping } from "./dimensions.ts";

/** The keys of tags that organisations have declared, and those of the groupings in use. */
export function useTagKeys(used: readonly Grouping[]): string[] {
  const { seesAll } = useReach();
  const { data } = useApi<List<{ tags?: string[] }>>(...organisationsQuery, { isWanted: seesAll });
  const declared = data?.data.flatMap(({ tags = [] }) => tags) ?? [];
  const own = used.flatMap((grouping) => (grouping.startsWith("tag:") ? [grouping.slice("tag:".length)] : []));
  return [...new Set([...declared, ...own])].toSorted();
}
