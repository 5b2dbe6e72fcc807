import { z } from "@hono/zod-openapi";
import { GatewayError } from "../../core/index.ts";
import type { Screenshots } from "../../web/index.ts";
import { platformRoute } from "../route.ts";

export const screenshotRoute = platformRoute({
  contract: {
    path: "/v2/screenshots/{id}",
    operationId: "getScreenshot",
    tag: "Search",
    summary: "Download a screenshot, by the address in a scrape's answer.",
    params: z.object({ id: z.string() }),
    answer: z.string().meta({ format: "binary" }),
    media: "image/png",
    notFound: "There is no such screenshot, or its day is over.",
  },
  surface: "firecrawl",
  access: "public",
  handle: async ({ pathParameter }, { screenshots }: { screenshots: Pick<Screenshots, "find"> }) => {
    const found = await screenshots.find(pathParameter("id"));
    if (found === undefined)
      throw new GatewayError("object_not_found", "There is no such screenshot, or its day is over.");
    return new Response(Uint8Array.from(found.content), {
      headers: {
        "content-type": found.mediaType,
        "cache-control": "private, max-age=3600",
        "content-security-policy": "default-src 'none'; sandbox",
        "x-content-type-options": "nosniff",
      },
    });
  },
});
