import { keysOf } from "../core/index.ts";
import type { Node, NodeStore } from "./store.ts";

/** A node that was seen less long ago is there. */
export const THERE_MS_MAX = 30_000;

/** Nodes that are restarted or reloaded one after the other differ for so long. */
const ROLL_OUT_MS = 60_000;

/** Nodes of one storage that do not serve alike. */
interface NodeDifference {
  /** The parts of the configuration that are not the same everywhere. */
  parts: readonly string[];
  /** Since when none of these nodes has changed, in milliseconds since the epoch. */
  since: number;
  /** Whether it has lasted for longer than a roll-out of a few nodes. */
  lasts: boolean;
}

/** The difference of the nodes that are there; undefined if they agree. */
export async function differenceOf(
  store: Pick<NodeStore, "seenSince">,
  at: number,
): Promise<NodeDifference | undefined> {
  return differenceIn(await store.seenSince(at - THERE_MS_MAX), at);
}

/** The same of some nodes. A part that a node of an earlier version does not report is not compared with it. */
export function differenceIn(nodes: readonly Node[], at: number): NodeDifference | undefined {
  const hashes = new Map<string, Set<string>>();
  for (const { fingerprint } of nodes) {
    for (const part of keysOf(fingerprint)) {
      const of = hashes.get(part) ?? new Set();
      hashes.set(part, of.add(fingerprint[part] ?? ""));
    }
  }
  const parts = [...hashes].filter(([, of]) => of.size > 1).map(([part]) => part);
  if (parts.length === 0) return undefined;
  const since = Math.max(...nodes.map(({ fingerprintAt }) => fingerprintAt));
  return { parts: parts.toSorted(), since, lasts: at - since > ROLL_OUT_MS };
}
