import type { Feature } from "../feature.ts";
import { startDeleting } from "../delete-regularly.ts";
import { connectionRoutes } from "./connection-routes.ts";
import { mcpRoutes } from "./mcp-routes.ts";
import { resourceMetadataRoutes } from "./resource-metadata.ts";
import { toolRoutes } from "./tool-routes.ts";

export { isOwnTool } from "./own/own-tools.ts";

export const toolsFeature: Feature = {
  routes: [...mcpRoutes, ...connectionRoutes, ...toolRoutes, ...resourceMetadataRoutes],
  start: ({ mcp }) => mcp.endpoint,
};

/** Deletes the credentials of users that were deleted. */
export const toolConnectionsFeature: Feature = {
  routes: [],
  start: ({ mcp, logger }) => startDeleting(() => mcp.connections.store.deleteAbandoned(), logger),
};
