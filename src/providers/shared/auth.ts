/** `Authorization: Bearer`, as nearly every upstream wants it. */
export function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}
