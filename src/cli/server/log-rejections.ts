import type { Logger } from "../../telemetry/index.ts";

/**
 * Logs rejections that nobody handles, of which each is a defect. Without this the process would exit, and with it all calls of all
 * callers. What has rejected is over by then and leaves nothing half done; holds that it had open end with their leases. An exception
 * outside of promises may have interrupted a change of state: it still ends the process.
 */
export function logRejections(logger: Pick<Logger, "error">): void {
  process.on("unhandledRejection", (err) => logger.error({ err }, "a rejection was not handled"));
}
