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

/** Printable ASCII: an id goes into records, exports and groups of usage as it is. */
const SESSION = /^[ -~]{1,128}$/;

/** The client's session, if one of its headers names it; a name that is too long or not printable is none. */
export function sessionOf(headers: Pick<Headers, "get">): string | undefined {
  for (const name of sessionHeaders) {
    const value = headers.get(name);
    if (value !== null && value !== "") return SESSION.test(value) ? value : undefined;
  }
  return undefined;
}
