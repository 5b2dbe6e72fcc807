import { commonFailures } from "../shared/failures.ts";

export const failures = commonFailures;
