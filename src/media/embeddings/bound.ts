import type { SizeOf } from "../../bodies/index.ts";
import type { WorkBound } from "../../core/index.ts";
import { boundInputs } from "../inputs.ts";
import type { EmbeddingsRequest } from "./request.ts";

/** The fields whose size is the size of the input. */
export const opaqueFields = ["input"] as const;

/** The output is free. */
export function boundEmbeddings({ input }: EmbeddingsRequest, sizeOf: SizeOf): WorkBound {
  return { ...boundInputs(input, sizeOf), outputTokens: 0, choices: 1 };
}
