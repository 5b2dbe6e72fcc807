import { z } from "zod";
import { modelId, opaqueText } from "../../bodies/index.ts";

/**
 * The body of a call of Gemini's, as far as the gateway must understand it to bound and route it. `model` and `stream` are from
 * the path. Everything else passes unread if the upstream uses the same dialect; otherwise `readGeminiRequest` reads all of it.
 */
const content = z.looseObject({});

/** One object may stand for a list of one. */
const contents = z.union([z.array(content).min(1), content]);

const config = z.looseObject({}).nullish();

/** What the body itself contains, of these. */
export const geminiBody = z
  .looseObject({
    contents,
    systemInstruction: z.union([opaqueText, content]).nullish(),
    tools: z.union([z.array(z.looseObject({})), z.looseObject({})]).nullish(),
    generationConfig: config,
  })
  .meta({ id: "GeminiRequest" });

/** With the members of the path. */
export const geminiRequest = geminiBody.extend({ model: modelId, stream: z.boolean().nullish() });

export type GeminiRequest = z.output<typeof geminiRequest>;
