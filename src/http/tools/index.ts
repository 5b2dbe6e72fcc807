import type { Feature } from "../feature.ts";
import { mcpRoutes } from "./mcp-routes.ts";
import { resourceMetadataRoutes } from "./resource-metadata.ts";
import { toolRoutes } from "./tool-routes.ts";

export { isOwnTool } from "./own/own-tools.ts";

export const toolsFeature: Feature = {
  routes: [...mcpRoutes, ...toolRoutes, ...resourceMetadataRoutes],
  start: ({ mcp }) => mcp.endpoint,
};
