import type { CatalogIndex } from "./catalog-index.ts";

/** How old list prices are. */
export interface CatalogAge {
  /** The catalog: its address, or `built-in`. */
  layer: string;
  /** The day on which its prices were read from their sources, as YYYY-MM-DD in UTC. */
  made: string;
  /** Whole days since then. */
  days: number;
  /** Whether providers have probably changed prices since. */
  isOld: boolean;
}

/** Providers change a price or add a model in most weeks; beyond this, a newer catalog is worth its trouble. */
const FRESH_DAYS_MAX = 14;

const DAY_MS = 86_400_000;

/** The age of the newest of some catalogs: the others only fill its gaps. Undefined if none has a date. */
export function catalogAge(
  catalogs: readonly Pick<CatalogIndex, "layer" | "made">[],
  at: number,
): CatalogAge | undefined {
  let newest: CatalogAge | undefined;
  for (const { layer, made } of catalogs) {
    if (made === undefined || (newest !== undefined && made <= newest.made)) continue;
    const days = Math.max(0, Math.floor((at - Date.parse(made)) / DAY_MS));
    newest = { layer, made, days, isOld: days > FRESH_DAYS_MAX };
  }
  return newest;
}

/** The age as one line for an operator. */
export function ageText({ layer, made, days, isOld }: CatalogAge): string {
  const advice = isOld ? "; a newer catalog: docs/prices.md" : "";
  return `prices of ${made} (${layer}), ${days} ${days === 1 ? "day" : "days"} old${advice}`;
}
