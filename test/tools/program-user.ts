/** The user of a program in tests. */
import { statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Without a user, a gateway of root starts a program as one without rights, who cannot read a checkout in a private folder; any other gateway
 * has to name its own.
 */
export function programUser(file: string): { user?: string } {
  const own = process.getuid?.();
  return isPrivate(file) || own !== 0 ? { user: String(own) } : {};
}

function isPrivate(path: string): boolean {
  const above = dirname(path);
  return above !== path && ((statSync(above).mode & 0o001) === 0 || isPrivate(above));
}
