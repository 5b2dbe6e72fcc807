import { z } from "@hono/zod-openapi";
import {
  addUsage,
  bucketNames,
  creditsNumber,
  GatewayError,
  isRequestId,
  type Usage,
  type UsageBucket,
  usageBuckets,
} from "../../core/index.ts";
import type { AttemptRecord } from "../../ledger/index.ts";
import type { Generation } from "../../generations/index.ts";
import { platformRoute } from "../route.ts";
import type { Services } from "../services.ts";

/** Buckets that few calls use: their counts are absent if they are zero. */
const rare: ReadonlySet<UsageBucket> = new Set([
  "inputVideoMs",
  "outputVideo",
  "outputVideoMs",
  "connectionMs",
  "webSearches",
  "previewSearches",
  "storageSearches",
  "containerGb",
  "searches",
  "pages",
  "maps",
  "pdfPages",
  "toolCalls",
  "searchUnits",
]);

const count = z.number().int();

const attemptAnswer = z.object({
  number: count.describe("Counted from 1."),
  provider: z.string(),
  model: z.string().describe("The model's id, with the prefix of its provider."),
  key: z.string().describe("The id of the provider's key."),
  class: z.string().nullable().describe("The class of the failure (docs/routing.md); null if it gave the answer."),
  status: count.nullable().describe("The provider's status; null without an answer."),
  codes: z.array(z.string()).optional().describe("The codes and types in the provider's error."),
  upstream_request_id: z.string().nullable(),
  started_at: z.iso.datetime(),
  milliseconds: z.number().describe("To the head of the answer, or to the failure."),
  unbilled: z
    .number()
    .nullable()
    .describe("Of an answer that was lost: what the provider may bill for it, in credits; nobody is charged."),
});

export const generationAnswer = z
  .object({
    object: z.literal("generation"),
    id: z.string().describe("The call's x-request-id."),
    parent_id: z
      .string()
      .nullable()
      .describe("The series that the call belongs to, such as a session; null of a call by itself."),
    session: z.string().nullable().describe("The session that a header of the request named; null if none did."),
    end_user: z.string().optional().describe("The caller's own user, as the request's header or body named them."),
    tags: z.record(z.string(), z.string()).optional().describe("The values of the organisation's tags by their keys."),
    client_request_id: z
      .string()
      .optional()
      .describe("The caller's own id: the request's `x-request-id` or `x-client-request-id`."),
    token_id: z.string(),
    model: z.string().describe("The model's id, with the prefix of its provider."),
    provider: z.string().describe("The prefix of the provider, whichever of its aliases was called."),
    dialect: z.enum(["chat", "messages", "responses", "gemini"]).nullable(),
    operation: z.string(),
    streamed: z.boolean(),
    status: count.nullable().describe("The HTTP status of the answer; null of a call that expired."),
    outcome: z
      .enum(["complete", "failed", "interrupted", "abandoned", "expired"])
      .describe(
        "failed: the upstream refused. interrupted: the answer broke off. abandoned: the client went away. expired: the gateway's process died.",
      ),
    usage: z
      .object(
        Object.fromEntries(
          usageBuckets.map((bucket) => [bucketNames[bucket], rare.has(bucket) ? count.optional() : count]),
        ),
      )
      .describe("Disjoint counts: each token stands in exactly one of them."),
    service_tier: z.string().optional().describe("The speed or priority that was charged, if not the usual one."),
    inference_geo: z.string().optional().describe("The place of the model that was charged, if it has its own price."),
    max_output_tokens: count
      .optional()
      .describe("The limit of the output that the gateway has set, for each choice; absent if it has set none."),
    estimated: z
      .array(z.enum(["input", "output"]))
      .optional()
      .describe(
        "The sides whose tokens the gateway has estimated, since the upstream has not counted them; absent if it has counted both.",
      ),
    input_tokens: count.describe("All tokens that went in, cached ones included."),
    output_tokens: count.describe("All tokens that came out, reasoning included."),
    credits: z.number().describe("What the call cost; 0 once it was refunded."),
    list_credits: z
      .number()
      .nullable()
      .describe("What its usage costs at list price, without the operator's markup; null if its process died."),
    refunded_credits: z.number().optional().describe("What was given back of the call's charge: all of it."),
    latency_ms: z.number().describe("From the request to the end of the answer."),
    time_to_first_token_ms: z.number().nullable().describe("Of a stream; null for a whole answer."),
    created_at: z.iso.datetime().describe("When the call began."),
    route: z
      .string()
      .optional()
      .describe("The route that chose the model; absent if the caller named the model itself."),
    upstream_request_id: z
      .string()
      .optional()
      .describe("The provider's own id of the request that was answered, or that failed last."),
    attempts: z
      .array(attemptAnswer)
      .optional()
      .describe("All requests to providers; absent if the first one gave the answer."),
    error_code: z
      .string()
      .optional()
      .describe(
        "The code of the gateway's error (docs/errors.md) that ended the call, or its answer before its time: `insufficient_credits` of an answer whose tools and rounds ran out of credits.",
      ),
  })
  .meta({ id: "Generation" });

/** A call that has ended, for any token of its user. Another user's call is indistinguishable from a missing one. */
export const generationRoute = platformRoute({
  contract: {
    path: "/v1/generations/{request_id}",
    operationId: "getGeneration",
    tag: "Account",
    summary: "What a call of the caller's user used and cost.",
    params: z.object({ request_id: z.string().describe("The call's x-request-id.") }),
    answer: generationAnswer,
    notFound: "No call of the caller's user has this id, or it has not ended yet.",
  },
  access: "token",
  handle: async ({ principal, pathParameter }, { generations }: Pick<Services, "generations">) => {
    const id = pathParameter("request_id");
    const found = isRequestId(id) ? await generations.find(id, principal.user) : undefined;
    if (found === undefined) {
      throw new GatewayError(
        "generation_not_found",
        "There is no generation with this id. A call is found here by its x-request-id, once it has ended.",
      );
    }
    return Response.json(answerOf(await withParts(found, principal.user, generations)));
  },
});

/** More parts than a call with tools that the gateway runs can have. */
const PARTS_MAX = 500;

/** A call with tools that the gateway runs costs nothing itself: it is shown with the sums of its parts, which are its owner's. */
export async function withParts(
  call: Generation,
  owner: string,
  generations: Pick<Services["generations"], "ofSeries">,
): Promise<Generation> {
  if (call.dialect === undefined || call.inputTokens + call.outputTokens > 0 || call.credits > 0n) return call;
  const parts = await generations.ofSeries({ owner, parent: call.id, after: "", limit: PARTS_MAX });
  const sum = { ...call };
  for (const part of parts) {
    sum.usage = addUsage(sum.usage, part.usage);
    sum.inputTokens += part.inputTokens;
    sum.outputTokens += part.outputTokens;
    sum.credits += part.credits;
    sum.listCredits = (sum.listCredits ?? 0) + (part.listCredits ?? 0);
  }
  return sum;
}

export function answerOf(generation: Generation): z.input<typeof generationAnswer> {
  const { provider, model, millisecondsToFirstByte } = generation;
  return {
    object: "generation",
    id: generation.id,
    parent_id: generation.parent ?? null,
    session: generation.session ?? null,
    ...(generation.endUser !== undefined && { end_user: generation.endUser }),
    ...(generation.tags !== undefined && { tags: { ...generation.tags } }),
    ...(generation.clientRequestId !== undefined && { client_request_id: generation.clientRequestId }),
    token_id: generation.tokenId,
    model: `${provider}/${model}`,
    provider,
    dialect: generation.dialect ?? null,
    operation: generation.operation,
    streamed: generation.streamed,
    status: generation.status ?? null,
    outcome: generation.outcome,
    usage: namedCounts(generation.usage),
    ...(generation.terms?.serviceTier !== undefined && { service_tier: generation.terms.serviceTier }),
    ...(generation.terms?.inferenceGeo !== undefined && { inference_geo: generation.terms.inferenceGeo }),
    ...(generation.maxOutputTokens !== undefined && { max_output_tokens: generation.maxOutputTokens }),
    ...(generation.estimated !== undefined && { estimated: [...generation.estimated] }),
    input_tokens: generation.inputTokens,
    output_tokens: generation.outputTokens,
    credits: creditsNumber(generation.credits),
    list_credits: generation.listCredits === undefined ? null : creditsNumber(BigInt(generation.listCredits)),
    ...(generation.refunded !== undefined && { refunded_credits: creditsNumber(generation.refunded) }),
    latency_ms: tenths(generation.milliseconds),
    time_to_first_token_ms: millisecondsToFirstByte === undefined ? null : tenths(millisecondsToFirstByte),
    created_at: new Date(generation.startedAt).toISOString(),
    ...(generation.route !== undefined && { route: generation.route }),
    ...(generation.upstreamRequestId !== undefined && { upstream_request_id: generation.upstreamRequestId }),
    ...(generation.attempts !== undefined && { attempts: generation.attempts.map(attemptOf) }),
    ...(generation.errorCode !== undefined && { error_code: generation.errorCode }),
  };
}

function attemptOf(attempt: AttemptRecord): z.input<typeof attemptAnswer> {
  const { number, provider, model, key, status, codes = [], unbilled } = attempt;
  return {
    number,
    provider,
    model: `${provider}/${model}`,
    key,
    class: attempt.class ?? null,
    status: status ?? null,
    ...(codes.length > 0 && { codes: [...codes] }),
    upstream_request_id: attempt.upstreamRequestId ?? null,
    started_at: new Date(attempt.startedAt).toISOString(),
    milliseconds: tenths(attempt.milliseconds),
    unbilled: unbilled === undefined ? null : Number(unbilled),
  };
}

function namedCounts(usage: Usage): Record<string, number> {
  const counts = usageBuckets.flatMap((bucket): [string, number][] => {
    const units = usage[bucket] ?? 0;
    return units === 0 && rare.has(bucket) ? [] : [[bucketNames[bucket], units]];
  });
  return Object.fromEntries(counts);
}

const tenths = (milliseconds: number): number => Math.round(milliseconds * 10) / 10;
