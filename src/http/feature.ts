import { type MountedRoute, mountRoute, type Route } from "./route.ts";
import type { Services } from "./services.ts";

/** A part of the gateway that runs in this process, of one feature or shared by several. */
export interface RunningPart {
  /** How much of it has not ended: a stopping server waits for that, within a bound. */
  readonly active?: number;
  /** Begins nothing from now on; active work goes on. */
  close?(): void;
  /** Takes up nothing by itself from now on: the part of a newer configuration does. It still serves the requests that have it. */
  retire?(): void;
  /** How much of the work that it took up by itself has not ended. A server that stops does not wait for that: another process goes on. */
  readonly own?: number;
  /** Ends the work that is still active. */
  abortAll?(): void;
  /** Ends the work in the background; resolves when that has ended. */
  stop?(): void | Promise<void>;
}

/** A group of routes, and the parts that it runs besides. `Needs` are the services that it requires. */
export interface Feature<Needs = Services> {
  routes: readonly Route<Needs>[];
  start?: (services: Needs) => RunningPart;
}

/** The routes of the features, with their services. */
export function mountFeatures<Needs>(features: readonly Feature<Needs>[], services: Needs): MountedRoute[] {
  return features.flatMap(({ routes }) => routes.map((route) => mountRoute(route, services)));
}

/** Starts the parts of all features. */
export function startFeatures<Needs>(features: readonly Feature<Needs>[], services: Needs): RunningPart[] {
  return features.flatMap(({ start }) => start?.(services) ?? []);
}
