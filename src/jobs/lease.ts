import { randomId, type RandomBytes } from "../core/index.ts";
import type { JobLease } from "./store.ts";

/** Characters of a lease's token: 103 random bits, so that no two leases share one. */
const TOKEN_CHARACTERS = 20;

/** The token of a lease. */
export function leaseToken(randomBytes: RandomBytes): string {
  return randomId(randomBytes, TOKEN_CHARACTERS);
}

export interface LeaseHolder {
  randomBytes: RandomBytes;
  /** The name of this process, for a reader of the table. */
  node: string;
}

/** A lease until a moment, in milliseconds since the epoch. */
export function newLease({ randomBytes, node }: LeaseHolder, until: number): JobLease {
  return { token: leaseToken(randomBytes), node, until };
}
