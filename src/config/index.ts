export { type AlertChannel, type AlertRule, alertRules, type AlertsConfig } from "./alerts.ts";
export { type ClaimSettings, type IssuerConfig, isTrustedOrigin, type SignInConfig } from "./auth.ts";
export { type ConfigChange, changesOf } from "./changes.ts";
export { readApiDocument } from "./api-document.ts";
export { ConfigError } from "./values/interpolate.ts";
export { fingerprintOf } from "./fingerprint.ts";
export { maskedConfig, originOf } from "./masked.ts";
export { configJsonSchema } from "./json-schema.ts";
export { checkConfig, type ConfigSource, type LoadedConfig, loadConfig, providerKeys } from "./load.ts";
export {
  type PresetName,
  type ProviderDialect,
  type ProviderConfig,
  type ProviderKindName,
  providerPresets,
} from "./provider.ts";
export { otlpTarget } from "./otlp.ts";
export { programPath } from "./program-path.ts";
export type { Config } from "./schema.ts";
export { parseDuration } from "./values/units.ts";
export { failuresIn, modelsIn } from "./routing.ts";
export { parseYaml } from "./yaml.ts";
