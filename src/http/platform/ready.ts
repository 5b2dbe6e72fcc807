import { z } from "@hono/zod-openapi";
import { type Clock, GatewayError, includesRole, shuttingDown } from "../../core/index.ts";
import { differenceIn, THERE_MS_MAX } from "../../nodes/index.ts";
import { platformRoute } from "../route.ts";
import type { Services } from "../services.ts";

const readyAnswer = z
  .object({
    status: z.literal("ready"),
    nodes: z
      .array(
        z.object({
          name: z.string().meta({ description: "Its host and process." }),
          version: z.string(),
          fingerprint: z.record(z.string(), z.string()).meta({
            description: "Hashes of the settings that all nodes of the storage should have alike.",
          }),
        }),
      )
      .optional()
      .meta({ description: "The nodes of the storage, for a token of an owner, an operator or an auditor." }),
    differences: z
      .array(z.string())
      .optional()
      .meta({ description: "The parts that have not been the same on all nodes for over a minute; with `nodes`." }),
  })
  .meta({ id: "Readiness" });

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
  async handle(
    { request },
    services: Pick<Services, "checkStorage" | "isDraining" | "authenticate" | "nodes" | "clock">,
  ) {
    if (services.isDraining()) throw shuttingDown();
    await services.checkStorage();
    const details = (await seesNodes(request, services)) ? await nodesNow(services) : {};
    return Response.json({ status: "ready", ...details } satisfies z.input<typeof readyAnswer>);
  },
});

/** A check by somebody else, or with a token that is not valid any more, is one without details. */
async function seesNodes(request: Request, { authenticate }: Pick<Services, "authenticate">): Promise<boolean> {
  if (!request.headers.has("authorization")) return false;
  try {
    const { role } = await authenticate(request);
    return role === "auditor" || includesRole(role, "operator");
  } catch (thrown) {
    if (thrown instanceof GatewayError) return false;
    throw thrown;
  }
}

async function nodesNow({ nodes: store, clock }: Pick<Services, "nodes" | "clock">) {
  const at = clock();
  const there = await store.seenSince(at - THERE_MS_MAX);
  const difference = differenceIn(there, at);
  const nodes = there.map(({ name, version, fingerprint }) => ({ name, version, fingerprint: { ...fingerprint } }));
  return { nodes, differences: difference?.lasts === true ? [...difference.parts] : [] };
}

/** One check for all callers, and its result for a moment. */
export function sharedCheck(check: () => Promise<void>, clock: Clock): () => Promise<void> {
  let last: { result: Promise<void>; at: number } | undefined;
  return () => {
    const now = clock();
    if (last === undefined || Math.abs(now - last.at) >= CHECK_MS) last = { result: check(), at: now };
    return last.result;
  };
}
