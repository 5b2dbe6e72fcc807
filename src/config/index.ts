export { ConfigError } from "./interpolate.ts";
export { configJsonSchema } from "./json-schema.ts";
export { type LoadedConfig, loadConfig, providerKeys } from "./load.ts";
export type { PresetName, ProviderConfig, ProviderKindName } from "./provider.ts";
export type { Config } from "./schema.ts";
export { parseDuration } from "./units.ts";
