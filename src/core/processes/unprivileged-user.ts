import { readdirSync, statSync } from "node:fs";
import type { RandomFraction } from "../environment.ts";

/** The ids that systemd gives to services as their dynamic users: by convention they are no person's. */
const FIRST_ID = 61_184;
const LAST_ID = 65_519;

/**
 * The id of a user that a child of a gateway of root becomes, see `becomeUser`; undefined if the gateway is not root. No other
 * process has it, so that a child that was taken over cannot reach the processes of, for example, `nobody`. `taken`: ids whose
 * processes may come again.
 */
export function unprivilegedUser(
  randomFraction: RandomFraction,
  taken: ReadonlySet<number> = new Set(),
): number | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const used = usersOfProcesses().union(taken);
  const offset = Math.floor(randomFraction() * (LAST_ID - FIRST_ID + 1));
  const ids = Array.from(
    { length: LAST_ID - FIRST_ID + 1 },
    (_, at) => FIRST_ID + ((offset + at) % (LAST_ID - FIRST_ID + 1)),
  );
  return ids.find((id) => !used.has(id));
}

function usersOfProcesses(): ReadonlySet<number> {
  try {
    return new Set(readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? ownerOf(`/proc/${name}`) : [])));
  } catch {
    // No Linux.
    return new Set();
  }
}

function ownerOf(folder: string): number[] {
  try {
    return [statSync(folder).uid];
  } catch {
    // It ended meanwhile.
    return [];
  }
}
