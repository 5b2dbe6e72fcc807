import { z } from "@hono/zod-openapi";
import { countGeminiTokens, type CountTokensDependencies } from "../../calls/index.ts";
import { proxiedRoute } from "../route.ts";
import { inAllPlaces, modelOf, modelParams } from "./places.ts";

const body = z
  .looseObject({
    contents: z.unknown().optional(),
    generateContentRequest: z.looseObject({}).optional().describe("A whole call, in the place of contents."),
  })
  .meta({ id: "GeminiCountTokensRequest" });

export const geminiCountTokensRoutes = inAllPlaces(
  proxiedRoute({
    contract: {
      path: "/v1beta/models/{model}:countTokens",
      operationId: "countTokens",
      tag: "Chat",
      summary: "Tokens that a call would put in. Free; an estimate if the provider doesn't count.",
      params: modelParams,
      body,
      streams: false,
      retryKey: false,
    },
    takesSlashes: true,
    surface: "gemini",
    handle: (call, services: CountTokensDependencies) => countGeminiTokens(services, call, modelOf(call)),
  }),
);
