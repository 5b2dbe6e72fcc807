import type { z } from "zod";
import { healthContract, type healthAnswer } from "./health.contract.ts";
import type { HttpRoute } from "./route.ts";

export function healthRoute(health: z.input<typeof healthAnswer>): HttpRoute {
  return { contract: healthContract, surface: "openai", access: "public", handle: () => Response.json(health) };
}
