import { z } from "@hono/zod-openapi";
import { decodeBody, isLarge, parseBody, readBody } from "../../bodies/index.ts";
import type { PaidAnswer } from "../../charges/index.ts";
import { type JsonObject, parseObject } from "../../core/index.ts";
import { readOpenaiFailure, translations } from "../../dialects/index.ts";
import { embeddingsCodec, embeddingsRequest } from "../../media/index.ts";
import { namesFallbacks, usableTargets } from "../../routing/index.ts";
import { answerPaid } from "../answer-paid.ts";
import { type PaidRoute, proxiedRoute, type RouteCall } from "../route.ts";
import type { Services } from "../services.ts";
import { type AskedVectors, readEmbedding, readEmbeddings, writeVectors } from "./embed-body.ts";
import { generationLink, inAllPlaces, modelOf, modelParams } from "./places.ts";

type Needs = Pick<Services, "pipeline" | "router" | "body" | "memory" | "largeBodies">;

interface EmbeddingMethod {
  method: "embedContent" | "batchEmbedContents";
  summary: string;
  body: z.ZodType<JsonObject>;
  read: (body: JsonObject) => AskedVectors;
}

const config = {
  taskType: z.string().nullish().describe("Such as RETRIEVAL_QUERY; for providers whose models know purposes."),
  title: z.string().nullish(),
  outputDimensionality: z.number().int().min(1).nullish(),
};

const single = z.looseObject({ content: z.looseObject({ parts: z.unknown() }), ...config });

/** As many as Google takes. */
const REQUESTS_MAX = 100;

/** A list with so many items, which is checked before its items: there may be hundreds of thousands. */
function atMost(length: number) {
  const hasLength = (value: unknown): boolean => Array.isArray(value) && value.length > 0 && value.length <= length;
  const items = { $ref: "#/components/schemas/GeminiEmbedContentRequest" };
  const shape = { type: "array", minItems: 1, maxItems: length, items } as const;
  return z.custom<unknown[]>(hasLength, `must be a list of 1 to ${length}`).meta(shape);
}

const routeOf = {
  operations: ["embeddings"],
  surface: "gemini",
  body: embeddingsRequest,
  codec: embeddingsCodec,
} as const;

/** The route of a method: a call of embeddings in Google's shape, to any provider that has them. */
function embeddingRoutes({ method, summary, body, read }: EmbeddingMethod): PaidRoute<Needs>[] {
  const route = proxiedRoute({
    contract: {
      path: `/v1beta/models/{model}:${method}`,
      operationId: method,
      tag: "Embeddings",
      summary,
      params: modelParams,
      body,
      isPaid: true,
      links: generationLink,
      streams: false,
    },
    takesSlashes: true,
    surface: "gemini",
    handle: async (call, services: Needs) => {
      const share = services.memory.share();
      try {
        const asked = read(await readAsked(call, services, { share, schema: body }));
        const sent = Buffer.from(JSON.stringify(embeddingsBody(asked, call, services)));
        const answer = await answerPaid(call, (request) => services.pipeline.run(routeOf, { ...request, body: sent }));
        return { ...answer, body: bodyOf(answer, method, call.requestId) };
      } finally {
        share.free();
      }
    },
  });
  return inAllPlaces(route);
}

async function readAsked(
  { request, principal }: RouteCall,
  { body: limited, largeBodies }: Needs,
  { share, schema }: { share: ReturnType<Needs["memory"]["share"]>; schema: z.ZodType<JsonObject> },
): Promise<JsonObject> {
  const bytes = await readBody(request, limited, share);
  if (isLarge(bytes.length)) await largeBodies.turn(principal.user);
  return decodeBody(parseBody(bytes, schema, []));
}

/** The body of `/v1/embeddings`. */
function embeddingsBody({ taskType, title, ...asked }: AskedVectors, call: RouteCall, { router }: Needs): JsonObject {
  const model = modelOf(call);
  return { model, ...asked, encoding_format: "float", ...purposeOf({ taskType, title }, model, call, router) };
}

/**
 * The purpose in the provider's words. A provider that knows none gets none, nor do several with different words: each would
 * refuse those of another, or take them for something else.
 */
function purposeOf(
  { taskType, title }: { taskType: string | undefined; title: string | undefined },
  model: string,
  { principal, request: { headers } }: RouteCall,
  router: Needs["router"],
): JsonObject {
  if (taskType === undefined || namesFallbacks(headers)) return {};
  const all = [...usableTargets(router, model, routeOf.operations, principal)].map(
    ({ operation }) => operation.purposes,
  );
  const [input_type, ...others] = new Set(all.map((purposes) => wordFor(taskType, purposes?.names)));
  if (input_type === undefined || others.length > 0) return {};
  const takesTitle = all.every((purposes) => purposes?.takesTitle === true);
  return { input_type, ...(takesTitle && title !== undefined && { title }) };
}

const wordFor = (taskType: string, names: Readonly<Record<string, string>> = {}): string | undefined =>
  Object.hasOwn(names, taskType) ? names[taskType] : undefined;

/** Vectors, or the error of an upstream, in Google's shape. */
function bodyOf({ status, body }: PaidAnswer, method: EmbeddingMethod["method"], requestId: string): string {
  const text = typeof body === "string" ? body : body instanceof Uint8Array ? Buffer.from(body).toString() : "";
  if (status !== 200) return translations.gemini.writeFailure(readOpenaiFailure(status, text), requestId);
  return JSON.stringify(writeVectors(parseObject(text) ?? {}, method === "batchEmbedContents"));
}

export const embedContentRoutes = embeddingRoutes({
  method: "embedContent",
  summary: "The vector of one content (Gemini-compatible shape), by any provider's model of embeddings.",
  body: single.meta({ id: "GeminiEmbedContentRequest" }),
  read: readEmbedding,
});

export const batchEmbedContentsRoutes = embeddingRoutes({
  method: "batchEmbedContents",
  summary: "The vectors of several contents (Gemini-compatible shape).",
  body: z
    .looseObject({ requests: atMost(REQUESTS_MAX).pipe(z.array(single)) })
    .meta({ id: "GeminiBatchEmbedContentsRequest" }),
  read: readEmbeddings,
});
