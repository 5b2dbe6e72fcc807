/** The names that the headers of a request give to it: its own id, its session, its end user. */
import { type JsonObject, objectOf } from "../json.ts";
import { tagHeaderNames } from "./tag-headers.ts";

/** Printable ASCII of a bounded length: such an id goes into the log, records, exports and groups of usage as it is. */
const PRINTABLE_ID = /^[ -~]{1,128}$/;

/** An id that somebody else has chosen; undefined if there is none, or if it is too long or not printable. */
export function loggableId(id: string | null | undefined): string | undefined {
  return id !== null && id !== undefined && PRINTABLE_ID.test(id) ? id : undefined;
}

/** The caller's own id of a request. */
export function clientRequestIdOf(headers: Pick<Headers, "get">): string | undefined {
  return loggableId(headers.get("x-request-id") ?? headers.get("x-client-request-id"));
}

/**
 * The request headers in which clients name the session that a call belongs to: Tollgate's own, Claude Code's, Codex's (with an
 * underscore before its version 0.171), opencode's and other agents', and LiteLLM's. The first one present counts.
 */
export const sessionHeaders = [
  "x-tollgate-session",
  "x-claude-code-session-id",
  "session-id",
  "session_id",
  "x-session-id",
  "x-litellm-session-id",
] as const;

/** The client's session, if one of its headers names it; a name that is too long or not printable is none. */
export function sessionOf(headers: Pick<Headers, "get">): string | undefined {
  return loggableId(firstOf(headers, sessionHeaders));
}

/** Tollgate's own header, and LiteLLM's. */
const endUserHeaders = ["x-tollgate-end-user", "x-litellm-end-user-id"] as const;

/**
 * The end user that a header names, or else the body: `user` or `safety_identifier` of OpenAI's dialects, `metadata.user_id` of
 * Anthropic's. The first one present counts; a name that is too long or not printable is none.
 */
export function endUserOf(headers: Pick<Headers, "get">, body: JsonObject | undefined): string | undefined {
  const named = firstOf(headers, endUserHeaders);
  if (named !== undefined || body === undefined) return loggableId(named);
  const { user, safety_identifier: identifier, metadata } = body;
  if (isName(user)) return loggableId(user);
  if (isName(identifier)) return loggableId(identifier);
  const id = objectOf(metadata)?.["user_id"];
  return isName(id) ? loggableId(id) : undefined;
}

function firstOf(headers: Pick<Headers, "get">, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null && value !== "") return value;
  }
  return undefined;
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

const names = [...sessionHeaders, ...endUserHeaders, ...tagHeaderNames];

/** Whether headers name tags. */
export function namesTags(headers: Pick<Headers, "has">): boolean {
  return tagHeaderNames.some((name) => headers.has(name));
}

/** Those headers that name a session, an end user or tags, for requests that are made on behalf of this one. */
export function namingHeaders(headers: Pick<Headers, "get">): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null) found[name] = value;
  }
  return found;
}
