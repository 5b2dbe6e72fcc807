import { type FailureName, GatewayError } from "../core/index.ts";

/**
 * The error in the place of the last refusal of an upstream with this name, if the client must not get that; undefined if it is
 * relayed.
 */
export function keptFromClient(
  name: string,
  { status, failure }: { status: number; failure: { name: FailureName } },
): GatewayError | undefined {
  // A relayed 401 would tell SDKs that the caller's own token is wrong; the provider's text is about the operator's account,
  // so none of it is repeated.
  if (failure.name === "key_refused") return keyRefused(name);
  // A redirection is not followed, because the key must not be sent along; nor is it by the client, who has no business there.
  return status >= 400
    ? undefined
    : new GatewayError("upstream_invalid_answer", `The upstream of ${name} answered with status ${status}.`);
}

export function keyRefused(name: string): GatewayError {
  const message = `The provider ${name} refuses the gateway's key. Only the operator of the gateway can replace it.`;
  return new GatewayError("provider_key_refused", message, { headers: { "x-tollgate-error-source": "upstream" } });
}
