import type { StopFeature } from "../feature.ts";
import type { Services } from "../services.ts";

/** The interval at which expired records are deleted, a bounded number at a time. */
const DELETE_MS = 60_000;

/** Deletes expired responses and owners of objects, now and regularly; several nodes may do so simultaneously. */
export function deleteExpired({
  responses,
  objectOwners,
  clock,
  logger,
}: Pick<Services, "responses" | "objectOwners" | "clock" | "logger">): StopFeature {
  const run = (): void => {
    Promise.all([responses.deleteExpired(clock()), objectOwners.deleteExpired(clock())]).catch((reason: unknown) => {
      logger.error({ reason: String(reason) }, "expired records could not be deleted");
    });
  };
  run();
  const timer = setInterval(run, DELETE_MS);
  timer.unref();
  return () => clearInterval(timer);
}
