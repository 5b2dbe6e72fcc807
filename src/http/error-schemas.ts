import { z } from "@hono/zod-openapi";
import type { Surface } from "../core/index.ts";

/** The error bodies of each surface, for the OpenAPI document. `errorBody` in `core/surfaces` creates them. */
export const errorSchemas: Readonly<Record<Surface, z.ZodType>> = {
  openai: z
    .object({
      error: z.object({
        message: z.string(),
        type: z.string(),
        code: z.string().nullable(),
        param: z.string().nullable(),
      }),
    })
    .meta({ id: "Error" }),
  anthropic: z
    .object({
      type: z.literal("error"),
      error: z.looseObject({ type: z.string(), message: z.string() }),
      request_id: z.string().nullable().describe("Null of a provider's error that has none."),
    })
    .meta({ id: "AnthropicError" }),
  gemini: z
    .object({
      error: z.looseObject({
        code: z.number().int().describe("The status of the answer."),
        message: z.string(),
        status: z.string().describe("INVALID_ARGUMENT, RESOURCE_EXHAUSTED …"),
        details: z.array(z.looseObject({})).optional(),
      }),
    })
    .meta({ id: "GoogleError" }),
  firecrawl: z
    .object({ success: z.literal(false), error: z.string(), code: z.string() })
    .meta({ id: "FirecrawlError" }),
  firecrawl_v1: z.object({
    success: z.literal(false),
    error: z.string(),
    code: z.string(),
    details: z.array(z.object({ path: z.array(z.string()), message: z.string() })).optional(),
  }),
  mcp: z
    .object({
      jsonrpc: z.literal("2.0"),
      id: z.null(),
      error: z.object({ code: z.number().int(), message: z.string(), data: z.looseObject({}).optional() }),
    })
    .meta({ id: "McpError" }),
};
