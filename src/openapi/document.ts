import { OpenAPIHono } from "@hono/zod-openapi";
import { answerHeaders, type Feature } from "../http/index.ts";
import { addressesOf, type DocumentAddresses } from "./addresses.ts";

export interface DocumentOptions extends DocumentAddresses {
  /** Its routes, in this order; routes without a contract are omitted. */
  features: readonly Feature[];
}

/** The version of the published description; part of the contract. */
const DOCUMENT_VERSION = "0.1.0";

const requestIdHeader = {
  description: "The id of the call, for `/v1/generations/{request_id}`.",
  required: true,
  schema: { type: "string" as const },
};

/** The OpenAPI 3.1 document, from the same declarations as the router. */
export function openapiDocument({ features, ...addresses }: DocumentOptions): object {
  const app = new OpenAPIHono();
  app.openAPIRegistry.registerComponent("securitySchemes", "BearerAuth", { type: "http", scheme: "bearer" });
  app.openAPIRegistry.registerComponent("headers", "RequestId", requestIdHeader);
  for (const [name, { description, schema }] of Object.entries(answerHeaders)) {
    app.openAPIRegistry.registerComponent("headers", name, { description, schema });
  }
  for (const { contract } of features.flatMap(({ routes }) => routes)) {
    if (contract !== undefined) app.openAPIRegistry.registerPath(contract);
  }
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Tollgate",
      version: DOCUMENT_VERSION,
      description: "One HTTP gateway in front of every AI provider.",
    },
    servers: addressesOf(addresses),
    security: [{ BearerAuth: [] }],
  });
}
