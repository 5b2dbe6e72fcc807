/** The part of the configuration for the removal of old entries. */
import { z } from "zod";
import { fromText } from "./values/from-text.ts";
import { duration } from "./values/units.ts";

const DAY_MS = 86_400_000;

/** The books of the last two days stay open. */
const kept = duration.refine((milliseconds) => milliseconds >= 2 * DAY_MS, "keep at least two days: 2d");

export const retention = z
  .strictObject({
    generations: fromText(kept).describe("How long entries and the records of their calls are kept, as in 400d."),
    export: z
      .string()
      .min(1)
      .describe("The folder in which they are exported before they are removed: the node that has it does both."),
    every: fromText(duration.refine((milliseconds) => milliseconds >= DAY_MS, "a day at least: 1d"))
      .prefault("1d")
      .describe("The time that one file is for: at most so much longer entries are kept."),
  })
  .describe("Seals, exports and removes old entries. Unset: they are kept for good, or removed by tollgate ledger.");
