import { z } from "zod";

/** An integer that a double represents exactly. Both bounds are in the OpenAPI document. */
export function wholeNumber(minimum: number, maximum = Number.MAX_SAFE_INTEGER): z.ZodNumber {
  return z.number().int().min(minimum).max(maximum);
}
