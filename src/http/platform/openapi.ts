import { z } from "@hono/zod-openapi";
import { platformRoute } from "../route.ts";
import type { Services } from "../services.ts";

export const openapiRoute = platformRoute({
  contract: {
    path: "/openapi.json",
    operationId: "getOpenApi",
    tag: "Platform",
    summary: "The OpenAPI 3.1 description of the service.",
    answer: z.looseObject({ openapi: z.string() }),
  },
  access: "public",
  handle: async (_call, { document }: Pick<Services, "document">) =>
    new Response(await document(), { headers: { "content-type": "application/json" } }),
});
