/** The tools over plain HTTP, for programs that speak no MCP. */
import { z } from "@hono/zod-openapi";
import { decodeBody, parseBody, readBody } from "../../bodies/index.ts";
import { GatewayError, type JsonObject, namingHeaders, stringOf, traceHeaders } from "../../core/index.ts";
import { RpcError, rpcCodes } from "../../mcp/index.ts";
import { parseQuery } from "../parse-query.ts";
import { platformRoute, type RouteCall } from "../route.ts";
import type { Services } from "../services.ts";
import { callAt, definitionsAt, fromOf } from "./tool-door.ts";

const listed = z.looseObject({
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: z.looseObject({}).describe("The JSON Schema of the arguments."),
  annotations: z.looseObject({}).optional(),
});

const formats = ["chat", "responses", "messages"] as const;

/** The same tool as an element of `tools` in a request to one of the APIs. */
const forFormat: Readonly<Record<(typeof formats)[number], (tool: JsonObject) => JsonObject>> = {
  chat: ({ name, description, inputSchema: parameters }) => ({
    type: "function",
    function: { name, description, parameters },
  }),
  responses: ({ name, description, inputSchema: parameters }) => ({ type: "function", name, description, parameters }),
  messages: ({ name, description, inputSchema: input_schema }) => ({ name, description, input_schema }),
};

const account = z
  .string()
  .regex(/^(?:[a-z0-9-]{1,32}:)?[\w.@+-]{1,64}(?:,(?:[a-z0-9-]{1,32}:)?[\w.@+-]{1,64}){0,99}$/)
  .optional()
  .describe(
    "The account at servers where the caller has several: `NAME`, or `SERVER:NAME` for one server; commas separate them.",
  );

const query = z.object({
  format: z.enum(formats).optional().describe("The tools as that API's requests contain them."),
  account,
  q: z.string().max(200).optional().describe("Only tools with these words in their name or description."),
});

const listToolsRoute = platformRoute({
  contract: {
    path: "/v1/tools",
    operationId: "listTools",
    tag: "Tools",
    summary: "List the tools that the caller may use.",
    query,
    answer: z
      .object({ object: z.literal("list"), data: z.array(z.union([listed, z.looseObject({})])) })
      .meta({ id: "ToolList" }),
  },
  access: "token",
  async handle({ request, principal }, services: Services) {
    const { format, q = "" } = parseQuery(request, query);
    const words = q.toLowerCase().split(/\s+/);
    const { definitions } = await definitionsAt(services.mcp.gateway.all, {
      principal,
      services,
      from: fromOf(request, principal),
    });
    const found = definitions.filter(({ name, title, description }) => {
      const text = [name, title, description].map(stringOf).join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    return Response.json({ object: "list", data: format === undefined ? found : found.map(forFormat[format]) });
  },
});

/** The body of a call: any members. The tool checks them. */
const toolArguments = z.looseObject({}).meta({ id: "ToolArguments", description: "As the tool's inputSchema says." });

const toolResult = z
  .looseObject({
    content: z.array(z.looseObject({ type: z.string() })).describe("Texts, images, sounds and links, as in MCP."),
    structuredContent: z.looseObject({}).optional().describe("The same as data, if the tool has data."),
    isError: z.boolean().optional().describe("Whether the tool has failed: what it says is in content."),
  })
  .meta({ id: "ToolResult" });

const callToolRoute = platformRoute({
  contract: {
    method: "post",
    path: "/v1/tools/{name}",
    operationId: "callTool",
    tag: "Tools",
    summary: "Call a tool. Costs what its operation costs.",
    params: z.object({ name: z.string() }),
    query: z.object({ account }),
    body: toolArguments,
    answer: toolResult,
    notFound: "The caller has no such tool.",
    relays: true,
  },
  access: "token",
  async handle(call: RouteCall, services: Services) {
    const { request, principal, requestId } = call;
    const given = await argumentsOf(request, services);
    const { signal, headers: sent } = request;
    const name = call.pathParameter("name");
    const answered = await callAt(
      services.mcp.gateway.all,
      { name, arguments: given, takesTasks: false, signal, onProgress: undefined },
      {
        requestId,
        principal,
        services,
        retryKey: sent.get("idempotency-key") ?? undefined,
        naming: { ...namingHeaders(sent), ...traceHeaders(sent) },
        from: fromOf(request, principal),
      },
    ).catch(refuseArguments);
    if (answered === undefined) throw new GatewayError("tool_not_found", "There is no such tool here.");
    const { result, headers } = answered;
    return Response.json(result, headers === undefined ? {} : { headers });
  },
});

/** A server's refusal of the arguments, as at every route. */
function refuseArguments(thrown: unknown): never {
  if (!(thrown instanceof RpcError) || thrown.code !== rpcCodes.invalidParams) throw thrown;
  throw new GatewayError("validation_failed", thrown.message);
}

/** Nothing is `{}`. */
async function argumentsOf(request: Request, { body: limits, memory }: Services): Promise<JsonObject> {
  const share = memory.share();
  try {
    const bytes = await readBody(request, limits, share);
    return bytes.length === 0 ? {} : decodeBody(parseBody(bytes, toolArguments, []));
  } finally {
    share.free();
  }
}

export const toolRoutes = [listToolsRoute, callToolRoute];
