import type { TierNames } from "../shared/terms.ts";

/** OpenAI's new name of its priority processing; answers have the former one (`docs/wire/openai.md`). */
export const tierNames: TierNames = { fast: "priority" };
