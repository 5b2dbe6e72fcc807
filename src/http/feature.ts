import { type MountedRoute, mountRoute, type Route } from "./route.ts";
import type { Services } from "./services.ts";

/** Ends what a feature has started; resolves when nothing of it is under way any more. */
export type StopFeature = () => void | Promise<void>;

/** Routes that belong together, and what runs beside them. `Needs` are the services that it is made of. */
export interface Feature<Needs = Services> {
  routes: readonly Route<Needs>[];
  start?: (services: Needs) => StopFeature;
}

/** The routes of the features, with their services. */
export function mountFeatures<Needs>(features: readonly Feature<Needs>[], services: Needs): MountedRoute[] {
  return features.flatMap(({ routes }) => routes.map((route) => mountRoute(route, services)));
}

/**
 * Starts what runs beside the routes; gives back the way to end it, which never rejects: one that fails to stop goes to
 * `onFailure`, and the others are waited for.
 */
export function startFeatures<Needs>(
  features: readonly Feature<Needs>[],
  services: Needs,
  onFailure: (reason: unknown) => void,
): () => Promise<void> {
  const stops = features.flatMap(({ start }) => start?.(services) ?? []);
  return async () => {
    const stopped = await Promise.allSettled(stops.map(async (stop) => stop()));
    for (const each of stopped) if (each.status === "rejected") onFailure(each.reason);
  };
}
