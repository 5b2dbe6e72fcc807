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
  handle(_call, { version, sandboxed }: Pick<Services, "version" | "sandboxed">) {
    return Response.json({ status: "ok", version, sandbox: [...sandboxed] } satisfies z.input<typeof healthAnswer>);
  },
});
