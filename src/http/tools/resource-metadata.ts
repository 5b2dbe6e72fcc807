/**
 * The metadata of a protected resource (RFC 9728), which a 401 names. Its authorization servers are the issuers whose tokens the
 * gateway takes. Without any the member is absent: a client needs a token that the operator has issued.
 */
import { z } from "@hono/zod-openapi";
import { GatewayError } from "../../core/index.ts";
import { resourceOf } from "../challenge.ts";
import { platformRoute, type RouteCall } from "../route.ts";
import type { Services } from "../services.ts";

const answer = z
  .object({
    resource: z.string().describe("The URL of the MCP server."),
    resource_name: z.string(),
    authorization_servers: z
      .array(z.string())
      .optional()
      .describe("The issuers in auth.issuers. Absent without any: a token of the gateway is needed."),
    bearer_methods_supported: z.array(z.literal("header")),
  })
  .meta({ id: "ProtectedResource" });

const wellKnown = "/.well-known/oauth-protected-resource";
const common = { operationId: "getProtectedResource", tag: "Tools", answer } as const;

type MetadataNeeds = Pick<Services, "mcp" | "config">;

function metadata(path: string, { mcp, config }: MetadataNeeds): Response {
  const resource = resourceOf(mcp.publicUrl, path);
  if (resource === undefined) throw new GatewayError("route_not_found", "There is no such resource here.");
  const issuers = [...new Set(config.auth.issuers.map(({ issuer }) => issuer))];
  return Response.json({
    resource,
    resource_name: "Tollgate",
    ...(issuers.length > 0 && { authorization_servers: issuers }),
    bearer_methods_supported: ["header"],
  } satisfies z.input<typeof answer>);
}

export const resourceMetadataRoutes = [
  platformRoute({
    contract: { ...common, path: wellKnown, summary: "What a client needs for /mcp (RFC 9728)." },
    access: "public",
    handle: (_call, services: MetadataNeeds) => metadata("mcp", services),
  }),
  platformRoute({
    contract: {
      ...common,
      operationId: "getProtectedResourceOf",
      path: `${wellKnown}/{resource}`,
      summary: "The same, for the path of a resource.",
      params: z.object({ resource: z.string() }),
      notFound: "There is no such resource.",
    },
    access: "public",
    takesSlashes: true,
    handle: ({ pathParameter }: Pick<RouteCall, "pathParameter">, services: MetadataNeeds) =>
      metadata(pathParameter("resource"), services),
  }),
];
