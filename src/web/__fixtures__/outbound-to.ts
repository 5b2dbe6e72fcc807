import { AddressGuard, Outbound } from "../../outbound/index.ts";
import { UpstreamClient } from "../../upstream/index.ts";

const fallback = (): Promise<never> => Promise.reject(new Error("the fallback was asked"));

/** Requests that may reach the private host of this address, and no other one. */
export function outboundTo(url: string): Outbound {
  const guard = new AddressGuard({
    allowPrivateHosts: [new URL(url).host],
    allowPorts: [80, 443],
    resolve: () => Promise.reject(new Error("a name was looked up")),
    ownAddresses: () => [],
  });
  const { ask } = new UpstreamClient({ fallback, clock: () => 0, variables: {} });
  return new Outbound({ guard, ask });
}
