import { keepPreviousData, QueryCache, QueryClient, useQuery, type UseQueryResult } from "@tanstack/react-query";
import { ApiError, addressOf, type Parameters, request } from "./client.ts";
import { sessionKey } from "./session.ts";

/** The cache of answers. A request whose session has ended leads back to the sign-in page. */
export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey }) => {
      if (isSignedOut(error) && queryKey[0] !== sessionKey[0]) queryClient.setQueryData(sessionKey, null);
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      // A refusal stays one; an answer that never came may come.
      retry: (failures, error) =>
        failures < 2 && error instanceof ApiError && (error.status === 0 || error.status > 500),
      placeholderData: keepPreviousData,
    },
  },
});

function isSignedOut(error: Error): boolean {
  return error instanceof ApiError && error.status === 401;
}

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
  const address = addressOf(path, parameters);
  return useQuery({
    queryKey: [address],
    queryFn: ({ signal }) => request<Answer>(address, { signal }),
    enabled: isWanted,
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
  });
}
