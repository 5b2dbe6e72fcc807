import { z } from "@hono/zod-openapi";
import type { ChargeableRoute } from "../../calls/index.ts";
import { geminiBody, geminiCodec, type GeminiRequest, geminiRequest } from "../../dialects/index.ts";
import { answerPaid } from "../answer-paid.ts";
import type { ChargeableServices } from "../chargeable.ts";
import { type PaidRoute, proxiedRoute, type RouteCall } from "../route.ts";
import { asList } from "./as-list.ts";
import { generationLink, inAllPlaces, modelOf, modelParams } from "./places.ts";

/** Messages before chat: Anthropic's chat endpoint has no thoughts. */
const generation: ChargeableRoute<GeminiRequest> = {
  operations: ["gemini", "messages", "chat", "responses"],
  surface: "gemini",
  body: geminiRequest,
  codec: geminiCodec,
};

interface GeneratingMethod {
  method: "generateContent" | "streamGenerateContent";
  summary: string;
  query?: z.ZodObject;
}

/** The route of a method, at every address that clients know it by. */
function generateRoutes({ method, summary, query }: GeneratingMethod): PaidRoute<ChargeableServices>[] {
  const streams = method === "streamGenerateContent";
  const route = proxiedRoute({
    contract: {
      path: `/v1beta/models/{model}:${method}`,
      operationId: method,
      tag: "Chat",
      summary,
      params: modelParams,
      ...(query === undefined ? {} : { query }),
      body: geminiBody,
      isPaid: true,
      links: generationLink,
      streams,
    },
    takesSlashes: true,
    surface: "gemini",
    handle: async (call, { pipeline }: ChargeableServices) => {
      const members = { model: modelOf(call), stream: streams };
      const answered = await answerPaid(call, (request) => pipeline.run({ ...generation, members }, request));
      return streams && !asksForEvents(call) ? asList(answered) : answered;
    },
  });
  return inAllPlaces(route);
}

/** Without `alt=sse` a stream is one JSON list. */
function asksForEvents({ request }: Pick<RouteCall, "request">): boolean {
  // As SDKs write it: parsing an address takes longer than most of the call's own work.
  return request.url.endsWith("?alt=sse") || new URL(request.url).searchParams.get("alt") === "sse";
}

export const generateContentRoutes = generateRoutes({
  method: "generateContent",
  summary: "Text generation (Gemini-compatible shape), by any model of any provider.",
});

export const streamGenerateContentRoutes = generateRoutes({
  method: "streamGenerateContent",
  summary: "The same as a stream: server-sent events with alt=sse, otherwise a JSON list that grows.",
  query: z.object({
    alt: z.string().optional().describe("sse for server-sent events."),
  }),
});
