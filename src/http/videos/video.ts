import { z } from "@hono/zod-openapi";

/** A video job as in OpenAI's API, with the addresses of its videos. */
export const video = z
  .looseObject({
    id: z.string().describe("The upstream's id of the job."),
    object: z.literal("video"),
    status: z.enum(["queued", "in_progress", "completed", "failed"]),
    model: z.string().describe("Without the provider's prefix."),
    progress: z.number(),
    created_at: z.number().int(),
    completed_at: z.number().int().nullable(),
    expires_at: z.number().int().nullable().describe("Until when the video can be downloaded."),
    prompt: z.string().nullable(),
    seconds: z.string().nullable(),
    size: z.string().nullable(),
    remixed_from_video_id: z.string().nullable(),
    error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
    output: z
      .array(z.object({ type: z.literal("video"), url: z.string() }))
      .optional()
      .describe("Where the videos can be downloaded, once the job has completed."),
  })
  .meta({ id: "Video" });
