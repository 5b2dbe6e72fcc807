import type { ParsedBody } from "./parse-body.ts";

/**
 * Whether an inner object of a body has two members of one name. The gateway's parser takes the last of them, an upstream's may
 * take the first: a body with such members must not reach an upstream as it came if what it may do depends on them.
 */
export function repeatsKey({ body, innerKeys }: Pick<ParsedBody<object>, "body" | "innerKeys">): boolean {
  let keys = 0;
  for (const member of Object.values(body)) keys += keysIn(member);
  return keys < innerKeys;
}

function keysIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const members: unknown[] = Object.values(value);
  let keys = Array.isArray(value) ? 0 : members.length;
  for (const member of members) keys += keysIn(member);
  return keys;
}
