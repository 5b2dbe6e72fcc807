/** The lease of the test's gateways, in milliseconds: long enough for a busy machine to look every second. */
export const leaseMs = 16_000;
