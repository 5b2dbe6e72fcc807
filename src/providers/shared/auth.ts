/** `Authorization: Bearer`, the header of nearly every upstream. */
export function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}
