import { z } from "zod";
import { limits } from "../../core/index.ts";

/** No control characters and no half of a surrogate pair: a model id ends up in logs, headers and the ledger. */
export const modelId = z
  .string()
  .min(1)
  .max(limits.modelIdCharactersMax)
  .regex(/^[^\p{Cc}\p{Cs}]+$/u, "no control characters");
