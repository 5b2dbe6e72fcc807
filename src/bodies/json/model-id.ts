import { z } from "zod";
import { limits } from "../../core/index.ts";

/** No control characters and no unpaired surrogates: a model id is written to logs, headers and the ledger. */
export const modelId = z
  .string()
  .min(1)
  .max(limits.modelIdCharactersMax)
  .regex(/^[^\p{Cc}\p{Cs}]+$/u, "no control characters")
  // For the OpenAPI document, whose generator would publish the flag as a part of the pattern.
  .meta({ pattern: String.raw`^[^\u0000-\u001f\u007f-\u009f]+$` });
