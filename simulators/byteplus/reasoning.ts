import { sealOf } from "../shared/seal.ts";

/** The reasoning efforts; each model supports some of them. */
export const effortLevels = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** The seal of encrypted reasoning, in chat and in responses. */
export const reasoningSeal = sealOf("byteplus reasoning");
