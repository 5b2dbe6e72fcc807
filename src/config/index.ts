export { ConfigError, type Variables } from "./interpolate.ts";
export { configJsonSchema } from "./json-schema.ts";
export { type ConfigSource, type LoadedConfig, loadConfig, providerKeys } from "./load.ts";
export {
  type Config,
  type ModelPriceConfig,
  type PresetName,
  type ProviderConfig,
  type ProviderKindName,
} from "./schema.ts";
export { parseDuration } from "./units.ts";
