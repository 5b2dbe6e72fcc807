/** The messages of the process that runs seeds to its parent. */
export type ChildMessage =
  | { kind: "begun"; seed: number }
  | { kind: "ended"; seed: number; traceHash: number }
  | { kind: "failed"; seed: number; finding: string }
  | { kind: "met"; pairs: Readonly<Record<string, number>> };
