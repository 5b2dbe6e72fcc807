import { openapiContract } from "./openapi.contract.ts";
import type { HttpRoute } from "./route.ts";

export function openapiRoute(document: object): HttpRoute {
  return { contract: openapiContract, surface: "openai", access: "public", handle: () => Response.json(document) };
}
