import { z } from "@hono/zod-openapi";
import { platformRoute } from "./shared.contract.ts";

const modelPricing = z
  .object({
    input_mtok: z.number(),
    output_mtok: z.number(),
    cache_read_mtok: z.number(),
  })
  .describe("Credits per million tokens, markup included.");

export const modelsAnswer = z
  .object({
    object: z.literal("list"),
    data: z.array(
      z.object({
        id: z.string().describe("Provider-prefixed model id."),
        object: z.literal("model"),
        created: z.number().int(),
        owned_by: z.string(),
        context_length: z.number().int().nullable(),
        pricing: modelPricing.nullable(),
      }),
    ),
  })
  .meta({ id: "ModelList" });

export const modelsContract = platformRoute({
  path: "/v1/models",
  operationId: "listModels",
  tag: "Models",
  summary: "List provider-prefixed model IDs.",
  answer: modelsAnswer,
});
