export { ConfigError, type Variables } from "./interpolate.ts";
export { configJsonSchema } from "./json-schema.ts";
export { type ConfigSource, type LoadedConfig, loadConfig, providerKeys } from "./load.ts";
export type { PresetName, ProviderConfig, ProviderKindName } from "./provider.ts";
export type { Config, ModelPriceConfig } from "./schema.ts";
export { parseDuration } from "./units.ts";
