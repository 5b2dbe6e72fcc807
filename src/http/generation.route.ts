import type { z } from "zod";
import { creditsNumber, GatewayError, isRequestId, type Usage, usageBuckets } from "../core/index.ts";
import type { Generation, GenerationStore } from "../generations/index.ts";
import { bucketNames, generationContract, type generationAnswer } from "./generation.contract.ts";
import type { HttpRoute } from "./route.ts";

/** A call that has ended, for any token of the user whose it was. Another's is not told from one that never was. */
export function generationRoute(generations: GenerationStore): HttpRoute {
  return {
    contract: generationContract,
    surface: "openai",
    access: "token",
    async handle({ principal, pathParameter }) {
      const id = pathParameter("request_id");
      const found = isRequestId(id) ? await generations.find(id, principal.user) : undefined;
      if (found === undefined) {
        throw new GatewayError(
          "generation_not_found",
          "There is no generation with this id. A call is found here by its x-request-id, once it has ended.",
        );
      }
      return Response.json(answerOf(found));
    },
  };
}

function answerOf(generation: Generation): z.input<typeof generationAnswer> {
  const { provider, model, millisecondsToFirstByte } = generation;
  return {
    object: "generation",
    id: generation.id,
    token_id: generation.tokenId,
    model: `${provider}/${model}`,
    provider,
    dialect: generation.dialect ?? null,
    operation: generation.operation,
    streamed: generation.streamed,
    status: generation.status ?? null,
    outcome: generation.outcome,
    usage: namedCounts(generation.usage),
    input_tokens: generation.inputTokens,
    output_tokens: generation.outputTokens,
    credits: creditsNumber(generation.credits),
    latency_ms: tenths(generation.milliseconds),
    time_to_first_token_ms: millisecondsToFirstByte === undefined ? null : tenths(millisecondsToFirstByte),
    created_at: new Date(generation.startedAt).toISOString(),
  };
}

function namedCounts(usage: Usage): Record<string, number> {
  return Object.fromEntries(usageBuckets.map((bucket) => [bucketNames[bucket], usage[bucket] ?? 0]));
}

const tenths = (milliseconds: number): number => Math.round(milliseconds * 10) / 10;
