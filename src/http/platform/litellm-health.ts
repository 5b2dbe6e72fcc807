/** The probes of LiteLLM, for deployments that have them. */
import { z } from "@hono/zod-openapi";
import { shuttingDown } from "../../core/index.ts";
import { platformRoute } from "../route.ts";
import type { Services } from "../services.ts";

const common = { tag: "Platform", summary: "A probe of LiteLLM.", answer: z.unknown() };

const liveliness = platformRoute({
  contract: { ...common, path: "/health/liveliness", operationId: "getLitellmLiveliness" },
  access: "public",
  handle: () => Response.json("I'm alive!"),
});

const readiness = platformRoute({
  contract: { ...common, path: "/health/readiness", operationId: "getLitellmReadiness" },
  access: "public",
  async handle(_call, { checkStorage, isDraining }: Pick<Services, "checkStorage" | "isDraining">) {
    if (isDraining()) throw shuttingDown();
    await checkStorage();
    return Response.json({ status: "healthy", db: "connected" });
  },
});

/** The document describes `/health` and `/health/ready` instead. */
export const litellmHealthRoutes = [liveliness, readiness].map((route) => {
  const { contract: _, ...undocumented } = route;
  return undocumented;
});
