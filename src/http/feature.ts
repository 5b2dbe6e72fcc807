import { type MountedRoute, mountRoute, type Route } from "./route.ts";
import type { Services } from "./services.ts";

/** Stops a feature's background task; resolves when it has ended. */
export type StopFeature = () => void | Promise<void>;

/** A group of routes, and their background task. `Needs` are the services that it requires. */
export interface Feature<Needs = Services> {
  routes: readonly Route<Needs>[];
  start?: (services: Needs) => StopFeature;
}

/** The routes of the features, with their services. */
export function mountFeatures<Needs>(features: readonly Feature<Needs>[], services: Needs): MountedRoute[] {
  return features.flatMap(({ routes }) => routes.map((route) => mountRoute(route, services)));
}

/**
 * Starts the background tasks; returns a function that stops them, which never rejects: failures to stop are passed to
 * `onFailure`, and the others are awaited.
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
