import type { StopFeature } from "../feature.ts";
import type { Services } from "../services.ts";

/** The interval at which expired responses are deleted, a bounded number at a time. */
const FORGET_MS = 60_000;

/** Now and regularly; several nodes may do so simultaneously. */
export function deleteExpiredResponses({
  responses,
  clock,
  logger,
}: Pick<Services, "responses" | "clock" | "logger">): StopFeature {
  const forget = (): void => {
    responses.deleteExpired(clock()).catch((reason: unknown) => {
      logger.error({ reason: String(reason) }, "forgetting responses failed");
    });
  };
  forget();
  const timer = setInterval(forget, FORGET_MS);
  timer.unref();
  return () => clearInterval(timer);
}
