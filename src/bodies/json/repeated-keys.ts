import { listOf, objectOf } from "../../core/index.ts";
import type { ParsedBody } from "./parse-body.ts";

/**
 * Whether an inner object of a body has two members of one name. The gateway's parser takes the last of them, an upstream's may
 * take the first: a body with such members must not reach an upstream as it came if what it may do depends on them.
 */
export function repeatsKey({ body, innerKeys }: Pick<ParsedBody<object>, "body" | "innerKeys">): boolean {
  return keysIn(body) - Object.keys(body).length < innerKeys;
}

function keysIn(value: unknown): number {
  let keys = 0;
  if (Array.isArray(value)) for (const element of listOf(value)) keys += keysIn(element);
  const object = objectOf(value);
  for (const key in object) keys += 1 + keysIn(object[key]);
  return keys;
}
