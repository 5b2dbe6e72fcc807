import { z } from "@hono/zod-openapi";
import { platformRoute } from "./shared.contract.ts";

export const healthAnswer = z
  .object({
    status: z.literal("ok"),
    version: z.string(),
    sandbox: z.array(z.string()).describe("Providers that are answered by simulators."),
  })
  .meta({ id: "Health" });

export const healthContract = platformRoute({
  path: "/health",
  operationId: "getHealth",
  tag: "Platform",
  summary: "Health check.",
  open: true,
  answer: healthAnswer,
});
