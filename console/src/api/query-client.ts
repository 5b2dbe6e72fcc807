import { keepPreviousData, QueryCache, QueryClient } from "@tanstack/react-query";
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

/** A `GET`, whose answer is kept by its address. */
export function apiQuery<Answer>(path: string, parameters: Parameters) {
  const address = addressOf(path, parameters);
  return {
    queryKey: [address],
    queryFn: ({ signal }: { signal: AbortSignal }) => request<Answer>(address, { signal }),
  };
}

/** Asks for an answer that a component will use. A failure is met there. */
export function preloadApi(path: string, parameters: Parameters): void {
  queryClient.query(apiQuery(path, parameters)).catch(() => undefined);
}
