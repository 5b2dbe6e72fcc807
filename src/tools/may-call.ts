import type { Principal } from "../auth/index.ts";
import { allows } from "../core/index.ts";

/** Whether one of the token's globs matches the tool, if there are such, and none of its exceptions; and so with those above it. */
export function mayCall({ tools: globs, toolsAbove }: Pick<Principal, "tools" | "toolsAbove">, name: string): boolean {
  if (globs === undefined) return true;
  return allows(globs, name) && (toolsAbove === undefined || toolsAbove.every((list) => allows(list, name)));
}
