import { type Clock, type Every, everyUnref } from "../core/index.ts";
import type { CatalogLayers } from "../pricing/index.ts";
import type { Logger } from "../telemetry/index.ts";

interface PriceReportOptions {
  /** Those in force. */
  catalogs: () => CatalogLayers;
  clock: Clock;
  logger: Pick<Logger, "info" | "warn">;
  every?: Every;
}

const DAY_MS = 86_400_000;

/** Logs the age of the price catalog now, and once a day while it is old. Returns a function that stops it. */
export function reportPrices({ catalogs, clock, logger, every = everyUnref }: PriceReportOptions): () => void {
  const report = (isStart: boolean): void => {
    const age = catalogs().age(clock());
    if (age === undefined) return;
    const { layer, made, days, isOld } = age;
    const fields = { catalog: layer, made, days };
    if (isOld) logger.warn(fields, "the price catalog is old; a newer one: docs/prices.md");
    else if (isStart) logger.info(fields, "the price catalog in force");
  };
  report(true);
  return every(DAY_MS, () => report(false));
}
