/** The caller's own user, for whom it makes a call. */
import { type JsonObject, objectOf } from "../json.ts";
import { loggableId } from "./request-ids.ts";

/** Tollgate's own header, and LiteLLM's. */
export const endUserHeaders = ["x-tollgate-end-user", "x-litellm-end-user-id"] as const;

/**
 * The end user that a header names, or else the body: `user` or `safety_identifier` of OpenAI's dialects, `metadata.user_id` of
 * Anthropic's. The first one present counts; a name that is too long or not printable is none.
 */
export function endUserOf(headers: Pick<Headers, "get">, body: JsonObject | undefined): string | undefined {
  for (const name of endUserHeaders) {
    const value = headers.get(name);
    if (value !== null && value !== "") return loggableId(value);
  }
  if (body === undefined) return undefined;
  const { user, safety_identifier: identifier, metadata } = body;
  if (isName(user)) return loggableId(user);
  if (isName(identifier)) return loggableId(identifier);
  const id = objectOf(metadata)?.["user_id"];
  return isName(id) ? loggableId(id) : undefined;
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
