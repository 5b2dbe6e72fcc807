import type { NamedProvider } from "./choose-provider.ts";
import type { FileCall } from "./dependencies.ts";

/** The name of the gateway's own parameter. */
export const PROVIDER = "provider";

const queryOf = ({ request }: FileCall): URLSearchParams => new URL(request.url).searchParams;

/** The place in the request's path or query that names its provider. */
export function namedProvider(call: FileCall): NamedProvider {
  const { prefix, surface } = call;
  return prefix === undefined ? { asked: queryOf(call).getAll(PROVIDER), surface } : { prefix };
}

/** The query for the upstream: the client's own, unchanged but for the gateway's parameter. */
export function queryWithout(call: FileCall): string {
  const query = queryOf(call);
  if (call.prefix !== undefined || !query.has(PROVIDER)) return new URL(call.request.url).search;
  query.delete(PROVIDER);
  return query.size === 0 ? "" : `?${query.toString()}`;
}
