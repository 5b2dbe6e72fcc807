import { sealOf } from "../shared/seal.ts";

/** How hard a model may be told to think; each model takes some of these. */
export const effortLevels = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** What encrypted reasoning is closed with, in chat and in responses. */
export const reasoningSeal = sealOf("byteplus reasoning");
