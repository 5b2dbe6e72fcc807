import { decodeBody, isLarge, parseBody, readBody } from "../../bodies/index.ts";
import { GatewayError, type JsonObject, listOf, objectOf, parseObject } from "../../core/index.ts";
import { inputItems, responsesCodec, responsesRequest } from "../../dialects/index.ts";
import type { PaidAnswer } from "../../charges/index.ts";
import { proxiedRoute } from "../route.ts";
import type { Services } from "../services.ts";
import { responsesCalls } from "./create-response.ts";

const compactRequest = responsesRequest
  .omit({ stream: true, store: true, background: true })
  .partial({ input: true })
  .meta({ id: "CompactResponseRequest" });

type CompactServices = Pick<Services, "pipeline" | "responseStore" | "body" | "memory" | "largeBodies">;

/**
 * A summary of a conversation, as a list of items to go on with. It is a Responses call whose input ends with the trigger: by the
 * provider's own means if it has them, else a summary by the model, and paid like any other call.
 */
export const compactResponseRoute = proxiedRoute({
  contract: {
    path: "/v1/responses/compact",
    operationId: "compactResponse",
    tag: "Responses",
    summary: "A conversation in short: the user's messages, and an item that stands for the rest.",
    body: compactRequest,
    streams: false,
    links: {
      generation: { operationId: "getGeneration", parameters: { request_id: "$response.header.x-request-id" } },
    },
  },
  namesModel: true,
  surface: "openai",
  handle: async ({ request, requestId, principal, modelOf }, services: CompactServices) => {
    const { pipeline, responseStore, memory } = services;
    const share = memory.share();
    try {
      const asked = await readAsked(request, services, { share, owner: principal.user });
      const body = Buffer.from(JSON.stringify(asked));
      const call = { requestId, principal, headers: request.headers, body, client: request, modelOf };
      const answer = await pipeline.run({ ...responsesCalls, responseStore }, call);
      const { status, headers } = answer;
      return new Response(status === 200 ? compacted(answer, asked) : answer.body, { status, headers });
    } finally {
      share.free();
    }
  },
});

/** The body of the Responses call. */
async function readAsked(
  request: Request,
  { body: limited, largeBodies }: CompactServices,
  { share, owner }: { share: ReturnType<Services["memory"]["share"]>; owner: string },
): Promise<JsonObject> {
  const bytes = await readBody(request, limited, share);
  if (isLarge(bytes.length)) await largeBodies.turn(owner);
  const body = decodeBody(parseBody(bytes, compactRequest, responsesCodec.measured));
  const { input = [] } = body;
  const items = typeof input === "string" ? [{ role: "user", content: input }] : listOf(input);
  return { ...body, input: [...items, { type: "compaction_trigger" }], stream: false, store: false };
}

/** OpenAI's answer: the user's messages of the input, then the item. */
function compacted({ body }: PaidAnswer, asked: JsonObject): string {
  const text = typeof body === "string" ? body : body instanceof Uint8Array ? Buffer.from(body).toString() : "";
  const response = parseObject(text) ?? {};
  const item = listOf(response["output"]).find((each) => objectOf(each)?.["type"] === "compaction");
  if (item === undefined) throw new GatewayError("upstream_invalid_answer", "The upstream gave no compaction.");
  const { id, created_at, usage } = response;
  const callId = String(id).replace(/^[^_]*_/, "");
  const said = inputItems(asked, callId).filter(({ type, role }) => type === "message" && role === "user");
  return JSON.stringify({ id, object: "response.compaction", created_at, output: [...said, item], usage });
}
