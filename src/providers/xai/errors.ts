import { commonFailures } from "../shared/failures.ts";

/** A wrong key is a 400 whose `error` is a sentence. */
export const failures = { ...commonFailures, keyRefused: /Incorrect API key/i };
