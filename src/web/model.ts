import type { Principal } from "../auth/index.ts";
import type { WorkNames } from "../charges/index.ts";
import type { CallSignal, JsonObject, Nano } from "../core/index.ts";

/** A question to the model of `web.model` or `web.vision_model`. */
export interface ModelQuestion {
  instructions: string;
  text: string;
  /** PNGs, after the text. */
  pictures?: readonly Uint8Array[];
  /** A JSON Schema of the answer; without it, the answer is text. */
  schema?: JsonObject | undefined;
}

export interface ModelContext {
  principal: Principal;
  /** The id of the work that the call is for. */
  parent: string;
  /** Those of that work. */
  names: WorkNames;
  signal: CallSignal;
  /** A question under a key of its token that was answered before is answered alike, at no further cost. */
  retryKey?: string;
}

interface ModelAnswer {
  text: string;
  /** The cost of the call, or of the one before whose answer is repeated. */
  spent: Nano;
  /** Whether the answer was paid before, by a call with the same retry key. */
  isRepeated?: boolean;
  /** Whether it is not all of the answer: the model has reached a limit, or refused. */
  isCut?: boolean;
}

/** Calls a model through the gateway itself, as a call of the principal with its own hold and record. */
export interface WebModel {
  /** Rejects with a `GatewayError`, such as 402. */
  ask(question: ModelQuestion, context: ModelContext): Promise<ModelAnswer>;
}
