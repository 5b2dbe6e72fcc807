import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import type { Parameters } from "./client.ts";
import { apiQuery } from "./query-client.ts";

interface ApiQueryOptions {
  /** Whether it is asked at all; by default it is. */
  isWanted?: boolean;
  /** Asks again after so many milliseconds. */
  everyMs?: number;
}

/** The answer of a `GET`, kept by its address. */
export function useApi<Answer>(
  path: string,
  parameters: Parameters = {},
  { isWanted = true, everyMs }: ApiQueryOptions = {},
): UseQueryResult<Answer> {
  return useQuery({
    ...apiQuery<Answer>(path, parameters),
    enabled: isWanted,
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
  });
}
