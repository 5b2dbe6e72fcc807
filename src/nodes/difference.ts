import { keysOf } from "../core/index.ts";
import type { Node, NodeStore } from "./store.ts";

/** A node that was seen less long ago is there. */
export const THERE_MS_MAX = 30_000;

/** Nodes of one storage that do not serve alike. */
export interface NodeDifference {
  /** The parts of the configuration that are not the same everywhere. */
  parts: readonly string[];
  /** Since when all of these nodes have what they have, in milliseconds since the epoch. */
  since: number;
}

/** The difference of the nodes that are there; undefined if they agree. */
export async function differenceOf(
  store: Pick<NodeStore, "seenSince">,
  at: number,
): Promise<NodeDifference | undefined> {
  return differenceIn(await store.seenSince(at - THERE_MS_MAX));
}

/** The same of some nodes. A part that a node of an earlier version does not report is not compared with it. */
function differenceIn(nodes: readonly Node[]): NodeDifference | undefined {
  const hashes = new Map<string, Set<string>>();
  for (const { fingerprint } of nodes) {
    for (const part of keysOf(fingerprint)) {
      const of = hashes.get(part) ?? new Set();
      hashes.set(part, of.add(fingerprint[part] ?? ""));
    }
  }
  const parts = [...hashes].filter(([, of]) => of.size > 1).map(([part]) => part);
  if (parts.length === 0) return undefined;
  return { parts: parts.toSorted(), since: Math.max(...nodes.map(({ fingerprintAt }) => fingerprintAt)) };
}
