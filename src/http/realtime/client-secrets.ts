import { z } from "@hono/zod-openapi";
import { type BodyLimits, decodeBody, parseBody, readBody } from "../../bodies/index.ts";
import { clientSecretRequest, type CreatedClientSecret, type RealtimeSessions } from "../../realtime/index.ts";
import type { MemoryBudget } from "../../streaming/index.ts";
import { platformRoute } from "../route.ts";

const clientSecretAnswer = z
  .object({
    value: z
      .string()
      .describe("The secret: `ek_…`. It starts sessions on the WebSocket `/v1/realtime` and nothing else."),
    expires_at: z.number().int().describe("Unix seconds. Sessions that are open by then go on."),
    session: z.looseObject({ type: z.enum(["realtime", "transcription"]), model: z.string().optional() }),
  })
  .meta({ id: "ClientSecret" });

interface Needs {
  realtime: RealtimeSessions;
  body: BodyLimits;
  memory: MemoryBudget;
}

export const createClientSecretRoute = platformRoute({
  contract: {
    method: "post",
    path: "/v1/realtime/client_secrets",
    operationId: "createRealtimeClientSecret",
    tag: "Realtime",
    summary: "Create a realtime client secret.",
    body: clientSecretRequest,
    answer: clientSecretAnswer,
  },
  access: "token",
  handle: async ({ request, requestId, principal }, { realtime, body: limits, memory }: Needs) => {
    const share = memory.share();
    try {
      const received = parseBody(await readBody(request, limits, share), clientSecretRequest, []);
      // With its long texts, such as instructions.
      const body = clientSecretRequest.parse(decodeBody(received));
      const created: CreatedClientSecret = await realtime.createClientSecret({ requestId, principal, body });
      return Response.json(created);
    } finally {
      share.free();
    }
  },
});
