export { AddressGuard, type GuardOptions, isPublicHttps } from "./guard.ts";
export { Outbound } from "./outbound.ts";
export { OutboundError, type OutboundFailure } from "./outbound-error.ts";
export { ownAddresses } from "./own-addresses.ts";
export { escapeBytes } from "./redirect.ts";
export { retryAfterMs } from "./retry-after.ts";
export { resolveName } from "./resolve-name.ts";
