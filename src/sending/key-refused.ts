import { GatewayError } from "../core/index.ts";
import type { Target } from "../routing/index.ts";

/**
 * The failure of a request whose last key the provider has refused. A relayed 401 would tell SDKs that the caller's own token
 * is wrong; the provider's text is about the operator's account, so none of it is repeated.
 */
export function keyRefused({ route }: Pick<Target, "route">): GatewayError {
  const message = `The provider ${route.prefix} refuses the gateway's key. Only the operator of the gateway can replace it.`;
  return new GatewayError("provider_key_refused", message, { headers: { "x-tollgate-error-source": "upstream" } });
}
