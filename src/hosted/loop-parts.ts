import type { PaidAnswer, RunningWork, StoredBody } from "../charges/index.ts";
import type { JsonObject } from "../core/index.ts";
import type { ClientContext, DialectTranslation } from "../dialects/index.ts";
import type { KeptResponse } from "./kept-response.ts";
import type { Loop } from "./loop.ts";
import type { LoopCall } from "./loop-call.ts";

/** The parts of a loop that its answer is made of. */
export interface LoopAnswer {
  running: Pick<RunningWork, "end" | "answer" | "work" | "watchdog" | "client">;
  loop: Loop;
  call: LoopCall;
  /** The answer of the first round. */
  first: PaidAnswer;
  context: ClientContext;
  /** Ends everything under way. */
  abort: AbortController;
  translation: DialectTranslation;
  kept: KeptResponse | undefined;
  /** The answer for a retry key, by the last response, in place of the stream. */
  answerOf: ((response: JsonObject) => { headers: Record<string, string>; body: StoredBody }) | undefined;
  headers: Readonly<Record<string, string>>;
}
