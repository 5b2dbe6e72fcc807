import { z } from "@hono/zod-openapi";
import { platformRoute } from "./shared.contract.ts";

const modelPricing = z
  .object({
    input_mtok: z.number(),
    output_mtok: z.number(),
    cache_read_mtok: z.number(),
    input_audio_mtok: z.number().optional(),
    output_audio_mtok: z.number().optional(),
    input_image_mtok: z.number().optional(),
    output_image_mtok: z.number().optional(),
    image: z
      .union([z.number(), z.record(z.string(), z.number())])
      .optional()
      .describe("Credits an image: one price, or prices by size and quality."),
    input_image: z.number().optional().describe("Credits an image that is sent along."),
    input_mchars: z.number().optional().describe("Credits per million characters that are spoken."),
    input_audio_hours: z.number().optional().describe("Credits per hour of audio that is written down."),
    requests_kcount: z.number().optional().describe("Credits per thousand calls."),
  })
  .describe(
    "Credits per million tokens, markup included; other units where the model is priced by them, audio and images where their tokens have a price of their own.",
  );

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
