/** Loaded by `bunfig.toml` before every test file, also without `npm test`. */
import { setDefaultTimeout } from "bun:test";
import { testMsMax } from "./time-limits.ts";

setDefaultTimeout(testMsMax);
