import { openOperatorCatalog } from "../app/routing/routing.ts";
import { openStorage } from "../app/storage.ts";
import type { Config, LoadedConfig } from "../config/index.ts";
import { builtInLayers, type CatalogLayers } from "../pricing/index.ts";
import type { Storage } from "../storage/index.ts";
import { createLogger } from "../telemetry/index.ts";
import { environment, storageSettings } from "./state.ts";

/** The price catalogs in force. The storage is opened only for an operator's catalog: it has the last good one. */
export async function readCatalogs({ config }: LoadedConfig, storageUrl = config.storage): Promise<CatalogLayers> {
  if (config.pricing.catalog === undefined) return builtInLayers();
  const storage = await openStorage(storageUrl, storageSettings(config));
  try {
    return await catalogsIn(storage, config);
  } finally {
    await storage.close();
  }
}

/** The same, for a command that has the storage open. */
export async function catalogsIn(storage: Storage, config: Config): Promise<CatalogLayers> {
  const logger = createLogger(config.log);
  const catalog = await openOperatorCatalog(config, { storage, environment, logger });
  catalog?.close();
  return catalog?.layers ?? builtInLayers();
}
