import { type JsonObject, objectOf } from "../../../core/index.ts";
import type { StopReason } from "../../conversation/index.ts";

const incomplete: Readonly<Partial<Record<StopReason, string>>> = {
  length: "max_output_tokens",
  "context-window": "max_output_tokens",
  pause: "max_output_tokens",
  refusal: "content_filter",
  "content-filter": "content_filter",
};

/** The end of a response. */
export interface ResponseEnd {
  status: "completed" | "incomplete";
  /** The reason for a cut-off. */
  incompleteDetails: JsonObject | null;
}

export function writeResponseEnd(reason: StopReason): ResponseEnd {
  const why = incomplete[reason];
  return why === undefined
    ? { status: "completed", incompleteDetails: null }
    : { status: "incomplete", incompleteDetails: { reason: why } };
}

/** Any other incomplete answer was cut off as well. */
export function readStopReason(response: JsonObject, hasCalls: boolean): StopReason {
  if (response["status"] === "incomplete") {
    return objectOf(response["incomplete_details"])?.["reason"] === "content_filter" ? "content-filter" : "length";
  }
  return hasCalls ? "tool-calls" : "end";
}
