import type { CatalogRate, TimedPrices } from "../../src/pricing/index.ts";
import type { Prices } from "./table-row.ts";

/** A provider's factor between the prices of writing to a cache for long and for short. */
export interface LongWrites {
  factor: number;
  source: string;
}

/** Adds the price of writing to a cache for long to prices that have one for short, those of service tiers included. */
export function withLongWrites(table: TimedPrices, longWrites: LongWrites | undefined): TimedPrices {
  if (longWrites === undefined) return table;
  const own = added(table, longWrites.factor);
  const { service_tiers: tiers } = table;
  if (tiers === undefined) return own;
  const service_tiers: Record<string, number | Prices> = {};
  for (const [name, tier] of Object.entries(tiers)) {
    service_tiers[name] = typeof tier === "number" ? tier : added(tier, longWrites.factor);
  }
  return { ...own, service_tiers };
}

function added<Table extends object>(table: Table, factor: number): Table {
  if ("cache_write_1h_mtok" in table) return table;
  const entries = Object.entries(table).flatMap(([key, value]: [string, unknown]): [string, unknown][] => {
    const own: [string, unknown] = [key, value];
    return key === "cache_write_mtok" ? [own, ["cache_write_1h_mtok", times(value as CatalogRate, factor)]] : [own];
  });
  return Object.fromEntries(entries) as Table;
}

function times(rate: CatalogRate, factor: number): CatalogRate {
  if (typeof rate === "number") return rate * factor;
  const { base, tiers } = rate as { base: number; tiers: { start: number; price: number }[] };
  return { base: base * factor, tiers: tiers.map(({ start, price }) => ({ start, price: price * factor })) };
}
