import type { JsonObject } from "../../../core/index.ts";
import type { AnswerBlock } from "../../../dialects/index.ts";
import type { HostedFunction } from "../../requests/functions.ts";
import type { ToolOutcome } from "../../running/tool-outcome.ts";

/** A use that has begun. */
export interface BegunUse {
  /** Unique to the use; letters, digits and _. */
  id: string;
  called: HostedFunction;
  /** The arguments, parsed, and as the model has written them. */
  input: JsonObject;
  arguments: string;
  /** The parts of items that the client asks for (`include`). */
  includes: ReadonlySet<unknown>;
  /** The id of the item by which the client was asked for it. */
  approvalId: string | undefined;
  /** Of texts for its user's client, which hands them back unread. */
  seal: (text: string) => string;
}

/** A use in its dialect; in chat it is invisible. */
export interface UseItems {
  /** The block that shows that it runs; undefined for none. */
  begun?: AnswerBlock;
  /** The final value of that block; undefined if it stays as it is. */
  ended?: (outcome: ToolOutcome) => JsonObject;
  /** A block with the result. */
  result?: (outcome: ToolOutcome) => AnswerBlock;
  /** A block that asks the client whether it may run. */
  approval?: AnswerBlock;
}

export function nativeBlock(dialect: "messages" | "responses", value: JsonObject): AnswerBlock {
  return { kind: "native", dialect, value };
}

/** The caller of a tool in Messages: the model itself, no program that it has written. */
export const direct = { type: "direct" } as const;
