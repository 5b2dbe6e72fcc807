/** The milliseconds that a `retry-after` asks for, as seconds or as a date (RFC 9110); undefined if it has neither. */
export function retryAfterMs(text: string | null | undefined, now: number): number | undefined {
  if (text === null || text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  // An HTTP date: `Date.parse` would read a year into many other texts.
  const at = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
