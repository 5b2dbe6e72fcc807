import { z } from "@hono/zod-openapi";
import { platformRoute } from "./shared.contract.ts";

export const openapiContract = platformRoute({
  path: "/openapi.json",
  operationId: "getOpenApi",
  tag: "Platform",
  summary: "The OpenAPI 3.1 description of the service.",
  open: true,
  answer: z.looseObject({ openapi: z.string() }),
});
