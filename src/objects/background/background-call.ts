import type { PaidAnswer, RunningWork } from "../../charges/index.ts";
import type { CallAbort, JsonObject } from "../../core/index.ts";
import type { BackgroundResponse } from "./store.ts";

/** What a call contributes to the record of its response. */
export type BackgroundInput = Pick<BackgroundResponse, "owner" | "provider" | "model" | "previousId" | "input">;

/** A call whose response runs in this process after its request has ended. */
export interface BackgroundCall {
  running: RunningWork;
  record: BackgroundInput;
  /** The response before its beginning; undefined if its upstream names it. */
  queued: JsonObject | undefined;
  /** Whether its client reads the events. */
  isStreamed: boolean;
  /** The headers of the answer to the client. */
  headers: () => Record<string, string>;
  /** The answer of the call: a stream of events, or anything else for a call that was refused. */
  answering: Promise<PaidAnswer>;
  /** Ends the call with an error. */
  abort: CallAbort;
  /** The client leaves. */
  leave: () => void;
}

/** A call whose response its upstream runs by itself. */
export interface NativeCall extends Pick<BackgroundCall, "running" | "record"> {
  /** The id of the key that made it. */
  keyId: string;
  /** As the upstream has answered. */
  response: JsonObject;
}
