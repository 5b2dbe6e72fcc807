import type { Feature } from "../feature.ts";
import { startDeleting } from "../delete-regularly.ts";
import { connectionPages } from "./connections/connection-pages.ts";
import { connectionRoutes } from "./connections/connection-routes.ts";
import { mcpRoutes } from "./mcp-routes.ts";
import { resourceMetadataRoutes } from "./resource-metadata.ts";
import { toolRoutes } from "./tool-routes.ts";

export { ownInLoops } from "./own/own-in-loops.ts";
export { isOwnTool } from "./own/own-tools.ts";

export const toolsFeature: Feature = {
  routes: [...mcpRoutes, ...toolRoutes, ...resourceMetadataRoutes],
  start: ({ mcp }) => mcp.endpoint,
};

/** Deletes the credentials of users that were deleted, and sign-ins that came to no end. */
export const toolConnectionsFeature: Feature = {
  routes: [...connectionRoutes, ...connectionPages],
  start: ({ mcp, clock, logger }) => startDeleting(() => mcp.connections.store.deleteAbandoned(clock()), logger),
};
