import { body } from "./body.ts";
import type { BenchCase } from "./case.ts";
import { chat } from "./chat.ts";
import { stream } from "./stream.ts";

export type { BenchCase } from "./case.ts";
export { chat, stream };

/** In the order of the report. */
export const benchCases: readonly BenchCase[] = [chat, stream, body];
