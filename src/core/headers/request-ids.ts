/** Printable ASCII of a bounded length: such an id goes into the log as it is. */
const PRINTABLE_ID = /^[ -~]{1,128}$/;

/** An id that somebody else has chosen; undefined if there is none, or if it is too long or not printable. */
export function loggableId(id: string | null | undefined): string | undefined {
  return id !== null && id !== undefined && PRINTABLE_ID.test(id) ? id : undefined;
}

/** The caller's own id of a request. */
export function clientRequestIdOf(headers: Pick<Headers, "get">): string | undefined {
  return loggableId(headers.get("x-request-id") ?? headers.get("x-client-request-id"));
}
