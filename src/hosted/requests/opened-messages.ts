import type { JsonObject } from "../../core/index.ts";
import { Sources } from "../citations/sources.ts";
import type { ResultSeal } from "../running/sealed-results.ts";
import { FunctionIndex } from "./functions.ts";
import { readHistory } from "./messages-history.ts";

/** Messages in which the results of tools are texts, with those that the seal opens. */
export function openedMessages(messages: readonly JsonObject[], seal: ResultSeal): readonly JsonObject[] {
  const functions = new FunctionIndex([]);
  return readHistory(messages, { functions, sources: new Sources(), seal, keepsNative: false }).messages;
}
