/** The pipeline alone, with a real ledger in memory and simulated upstreams. */
import { WorkShell } from "../../charges/index.ts";
import type { WorkScene } from "../../charges/__fixtures__/work-scene.ts";
import type { AskUpstream } from "../../core/index.ts";
import { chatCodec, chatRequest } from "../../dialects/index.ts";
import { objectsInMemory } from "../../objects/owners/__fixtures__/memory.ts";
import { BusyTargets, type Circuits, SessionCaches } from "../../routing/index.ts";
import { attemptOnce, principalOf, router, worldOf } from "../../sending/__fixtures__/upstreams.ts";
import { MemoryBudget } from "../../streaming/index.ts";
import type { ChargeableRoute } from "../chargeable-route.ts";
import type { IncomingCall } from "../incoming-call.ts";
import { LargeBodies } from "../large-bodies.ts";
import { CallPipeline } from "../pipeline.ts";

const storedObjects = await objectsInMemory();

/** The route of chat. */
export const chatRoute: ChargeableRoute<ReturnType<typeof chatRequest.parse>> = {
  operations: ["chat"],
  surface: "openai",
  body: chatRequest,
  codec: chatCodec,
};

interface Upstreams {
  script?: () => Response;
  /** Instead of the script. */
  ask?: AskUpstream | undefined;
  circuits?: Circuits;
}

export function pipelineOn(
  scene: WorkScene,
  { script = () => Response.json({}), ask, circuits }: Upstreams,
): { pipeline: CallPipeline; shell: WorkShell } {
  const body = { bytesMax: 1_000_000, arrivalMsMax: 60_000, ticker: scene.ticker };
  const shell = new WorkShell({ work: scene.deps, memory: new MemoryBudget(1e9), body });
  const { environment } = worldOf(script);
  const logger = { info: () => undefined, warn: () => undefined, error: () => undefined, flush: () => undefined };
  const pipeline = new CallPipeline({
    environment: { ...environment, ...(ask && { ask }), clock: scene.deps.clock },
    router,
    storedObjects,
    largeBodies: new LargeBodies(),
    images: { fetch: () => Promise.reject(new Error("no image is fetched")) },
    keptThoughts: { find: () => Promise.resolve(undefined), keep: () => Promise.resolve() },
    work: scene.deps,
    shell,
    observer: scene.deps.observer,
    send: attemptOnce,
    circuits,
    busy: new BusyTargets(),
    caches: new SessionCaches(scene.deps.clock),
    routeLimits: {
      attempts: 4,
      deadlineMs: 600_000,
      attemptMsMax: 30_000,
      wholeMsMax: 300_000,
      headMsMax: 15_000,
      commit: undefined,
    },
    logger,
  });
  return { pipeline, shell };
}

/** A call by another part of the gateway: a principal, headers, bytes, and a signal. */
export function callOf(body: object, more: Partial<IncomingCall> = {}): IncomingCall {
  return {
    requestId: "req_own_1",
    principal: { ...principalOf("u"), accountId: "user:u" },
    headers: new Headers(),
    body: Buffer.from(JSON.stringify({ model: "openai/m", messages: [{ role: "user", content: "hi" }], ...body })),
    client: { signal: new AbortController().signal },
    ...more,
  };
}
