/** The accounts that a request names by `account`, for servers at which the caller has several. */
import { GatewayError } from "../../core/index.ts";

const NAMED = /^(?:([a-z0-9-]{1,32}):)?([\w.@+-]{1,64})$/;

/**
 * `?account=work` counts for all servers at the URL, `?account=github:work` for one, which is the stronger; commas separate several.
 * Undefined for a server without either. Throws a 422 `GatewayError` for any other text.
 */
export function namedAccounts(url: string): (server: string) => string | undefined {
  const query = url.indexOf("?");
  const values = query === -1 ? [] : new URLSearchParams(url.slice(query)).getAll("account");
  if (values.length === 0) return () => undefined;
  const byServer = new Map<string, string>();
  for (const value of values.flatMap((each) => each.split(","))) {
    const [, server = "", account] = NAMED.exec(value) ?? [];
    if (account === undefined)
      throw new GatewayError("validation_failed", "account: NAME or SERVER:NAME, with commas between several", {
        param: "account",
      });
    byServer.set(server, account);
  }
  return (server) => byServer.get(server) ?? byServer.get("");
}
