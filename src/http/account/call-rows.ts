import { inParts } from "../../core/index.ts";
import type { CallQuery, Generation, GenerationStore } from "../../generations/index.ts";
import { ROWS_AT_ONCE } from "../in-parts.ts";
import type { answerOf } from "./generation.ts";

type CallAnswer = Omit<ReturnType<typeof answerOf>, "object"> & Partial<Record<Whose, string | null>>;

type Whose = "user" | "user_id" | "project" | "project_id" | "organisation" | "organisation_id";

const whose: readonly Whose[] = ["user", "user_id", "project", "project_id", "organisation", "organisation_id"];

/** The columns of one's own calls. */
export const ownCallColumns = [
  ...([
    "id",
    "created_at",
    "token_id",
    "model",
    "provider",
    "operation",
    "dialect",
    "streamed",
    "status",
    "outcome",
  ] as const),
  ...(["input_tokens", "output_tokens", "credits", "list_credits", "refunded_credits", "latency_ms"] as const),
  ...(["time_to_first_token_ms", "session", "end_user", "route", "parent_id"] as const),
  ...(["client_request_id", "upstream_request_id", "tags"] as const),
] as const satisfies readonly (keyof CallAnswer)[];

/** The columns of everybody's calls. */
export const allCallColumns: readonly string[] = [...ownCallColumns, ...whose];

type CallsOf = (calls: readonly Generation[]) => Promise<CallAnswer[]>;

/** The objects of all calls of a query, some at a time. */
export async function* callObjects(
  generations: Pick<GenerationStore, "parts">,
  query: CallQuery,
  show: CallsOf,
): AsyncIterable<CallAnswer[]> {
  for await (const { calls } of generations.parts(query))
    for await (const some of inParts(calls, ROWS_AT_ONCE)) yield await show(some);
}
