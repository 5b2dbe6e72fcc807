/** How one dialect writes the bodies of a loop's rounds. */
import type { JsonObject } from "../../../core/index.ts";
import type { FunctionDefinition } from "../functions.ts";

/** The result of a call that the gateway has run. */
export interface CallResult {
  callId: string;
  text: string;
  isError: boolean;
}

/** One round and its results, as the next rounds repeat them. */
export interface RoundTurn {
  /** The answer as its client would get it, parsed; undefined if the messages of the request end with it. */
  answer: JsonObject | undefined;
  results: readonly CallResult[];
}

export interface RoundDialect {
  /** The name of the caller's own function; undefined for another tool. */
  nameOf(tool: JsonObject): string | undefined;
  functionOf(definition: FunctionDefinition): JsonObject;
  /** The choice of one function. */
  choiceOf(name: string): unknown;
  /** The choice of the tools of the last round. */
  noChoice: unknown;
  /** Whether a choice forces a tool: it counts for the first round alone. */
  isForced(choice: unknown): boolean;
  /** The type of the hosted tool that a choice names, or its name; undefined for any other choice. */
  chosenTool(choice: unknown): string | undefined;
  /** The member that limits the output of the body. */
  limitIn(body: JsonObject): { member: string; tokens: number } | undefined;
  /** The body with the rounds so far after its own messages. */
  withTurns(body: JsonObject, turns: readonly RoundTurn[]): JsonObject;
  /** The texts of the user, the system prompt and earlier results: all that the model has not written itself. */
  givenTexts(body: JsonObject): unknown[];
}
