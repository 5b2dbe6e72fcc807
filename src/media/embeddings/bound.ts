import type { SizeOf } from "../../bodies/index.ts";
import type { WorkBound } from "../../core/index.ts";
import { boundInputs } from "../inputs.ts";
import type { EmbeddingsRequest } from "./request.ts";

/** The fields whose size is the size of the input. */
export const opaqueFields = ["input"] as const;

/** The output is free. A title is input beside each text. */
export function boundEmbeddings({ input, title }: EmbeddingsRequest, sizeOf: SizeOf): WorkBound {
  const bound = boundInputs(input, sizeOf);
  const titles = typeof title === "string" ? bound.inputs * Buffer.byteLength(title) : 0;
  return { ...bound, inputTokens: bound.inputTokens + titles, outputTokens: 0, choices: 1 };
}
