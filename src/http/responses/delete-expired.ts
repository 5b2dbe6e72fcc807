import type { StopFeature } from "../feature.ts";
import type { Services } from "../services.ts";

/** How often responses are looked for that are kept no longer; each time a bounded number goes. */
const FORGET_MS = 60_000;

/** Now and regularly; several nodes may do so at once. */
export function deleteExpiredResponses({
  responses,
  clock,
  logger,
}: Pick<Services, "responses" | "clock" | "logger">): StopFeature {
  const forget = (): void => {
    responses.forget(clock()).catch((reason: unknown) => {
      logger.error({ reason: String(reason) }, "forgetting responses failed");
    });
  };
  forget();
  const timer = setInterval(forget, FORGET_MS);
  timer.unref();
  return () => clearInterval(timer);
}
