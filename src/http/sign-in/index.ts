import type { Feature } from "../feature.ts";
import { startDeleting } from "../delete-regularly.ts";
import { openIdRoutes } from "./open-id-routes.ts";
import { sessionRoutes } from "./session-routes.ts";

/** How long an ended session stays in the storage. */
const KEPT_MS = 30 * 86_400_000;

export const signInFeature: Feature = {
  routes: [...sessionRoutes, ...openIdRoutes],
  start: ({ signIn, clock, logger }) => startDeleting(() => signIn.store.deleteEnded(clock() - KEPT_MS), logger),
};
