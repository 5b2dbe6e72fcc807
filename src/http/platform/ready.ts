import { z } from "@hono/zod-openapi";
import { type Clock, shuttingDown } from "../../core/index.ts";
import { platformRoute } from "../route.ts";
import type { Services } from "../services.ts";

const readyAnswer = z.object({ status: z.literal("ready") }).meta({ id: "Readiness" });

/** How long a check of the storage is valid: the route is public, and each check is a statement. */
const CHECK_MS = 1_000;

/** For load balancers: 503 while the server stops, or while its storage does not answer. */
export const readyRoute = platformRoute({
  contract: {
    path: "/health/ready",
    operationId: "getReadiness",
    tag: "Platform",
    summary: "Whether paid calls are accepted at the moment.",
    answer: readyAnswer,
    unavailable: "The server is stopping, or its storage is unavailable.",
  },
  access: "public",
  async handle(_call, { checkStorage, isDraining }: Pick<Services, "checkStorage" | "isDraining">) {
    if (isDraining()) throw shuttingDown();
    await checkStorage();
    return Response.json({ status: "ready" } satisfies z.input<typeof readyAnswer>);
  },
});

/** One check for all callers, and its result for a moment. */
export function sharedCheck(check: () => Promise<void>, clock: Clock): () => Promise<void> {
  let last: { result: Promise<void>; at: number } | undefined;
  return () => {
    const now = clock();
    if (last === undefined || Math.abs(now - last.at) >= CHECK_MS) last = { result: check(), at: now };
    return last.result;
  };
}
