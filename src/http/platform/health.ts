import { z } from "@hono/zod-openapi";
import { platformRoute } from "../route.ts";
import type { Services } from "../services.ts";

const healthAnswer = z
  .object({
    status: z.literal("ok"),
    version: z.string(),
    sandbox: z.array(z.string()).describe("Providers that are answered by simulators."),
  })
  .meta({ id: "Health" });

export const healthRoute = platformRoute({
  contract: {
    path: "/health",
    operationId: "getHealth",
    tag: "Platform",
    summary: "Health check.",
    answer: healthAnswer,
  },
  access: "public",
  mount({ version, sandboxed }: Pick<Services, "version" | "sandboxed">) {
    const health: z.input<typeof healthAnswer> = { status: "ok", version, sandbox: [...sandboxed] };
    return () => Response.json(health);
  },
});
