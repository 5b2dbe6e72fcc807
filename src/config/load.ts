import { existsSync } from "node:fs";
import type { z } from "zod";
import { objectOf, prefixOf } from "../core/index.ts";
import { defaultProviders, defaultWebhooks } from "./defaults.ts";
import { ConfigError, interpolate, type Variables } from "./values/interpolate.ts";
import { otlpOf, resourceOf } from "./otlp.ts";
import type { ProviderConfig } from "./provider.ts";
import { modelsIn } from "./routing.ts";
import { type Config, configSchema } from "./schema.ts";
import { parseYaml, readText } from "./yaml.ts";

const DEFAULT_FILE = "tollgate.yaml";

export interface LoadedConfig {
  config: Config;
  /** The file that was read, or undefined if the defaults apply. */
  file: string | undefined;
  /** The prefixes of the providers that have no key, with the variable to set. */
  missingKeys: Map<string, string>;
  /** The text of the file. */
  text: string | undefined;
  /** The files with secrets that it names, and their contents. */
  secretFiles: ReadonlyMap<string, string>;
}

export interface ConfigSource {
  /** `--config`; falls back to `TOLLGATE_CONFIG`, then to `tollgate.yaml` if it exists. */
  file?: string | undefined;
  variables: Variables;
  /** The text of the file that was read before: only the files with secrets are read again. */
  text?: string | undefined;
}

/** Reads, interpolates and checks the configuration. Throws a `ConfigError`, one line that names the key. */
export function loadConfig(source: ConfigSource): LoadedConfig {
  const file = configFileOf(source);
  const text = source.text ?? (file === undefined ? undefined : readText(file));
  const parsed = file === undefined || text === undefined ? {} : parseYaml(text, file);
  const { value, missingKeys, files: secretFiles } = interpolate(withDefaults(parsed), source.variables);
  const config = checkConfig(withOtlp(value, source.variables));
  return {
    config: deepFreeze(config),
    file,
    missingKeys: prefixesWithoutKey(config, missingKeys),
    text,
    secretFiles,
  };
}

/** The file that is read; undefined if the defaults apply. */
function configFileOf({ file, variables }: ConfigSource): string | undefined {
  // An empty variable counts as unset, as it does in the file.
  const variable = variables["TOLLGATE_CONFIG"] ?? "";
  const chosen = file ?? (variable === "" ? undefined : variable);
  return chosen ?? (existsSync(DEFAULT_FILE) ? DEFAULT_FILE : undefined);
}

/** Adds the defaults that contain variables. An empty section (`server:`) counts as absent. */
function withDefaults(parsed: unknown): unknown {
  if (parsed === null || typeof parsed !== "object" || Array.isArray(parsed)) return parsed;
  const sections = Object.entries(parsed).filter(([, section]) => section !== null);
  return { providers: defaultProviders, webhooks: defaultWebhooks, ...Object.fromEntries(sections) };
}

/** Adds the collector that OpenTelemetry's variables name, if the file names none; their resource counts for both. */
function withOtlp(value: unknown, variables: Variables): unknown {
  const parsed = objectOf(value);
  if (parsed === undefined) return value;
  const otlp = objectOf(parsed["otlp"] === undefined ? otlpOf(variables) : parsed["otlp"]);
  if (otlp === undefined) return value;
  const resource = objectOf(otlp["resource"] ?? {});
  if (resource === undefined) return value;
  return { ...parsed, otlp: { ...otlp, resource: { ...resourceOf(variables), ...resource } } };
}

/** Checks a parsed configuration. Throws a `ConfigError` that names the first invalid key. */
export function checkConfig(value: unknown): Config {
  const result = configSchema.safeParse(value);
  if (!result.success) throw firstProblem(result.error);
  checkPrefixes(result.data);
  checkAliases(result.data);
  checkRoutes(result.data);
  checkAlerts(result.data);
  return result.data;
}

/** Reports unknown keys first: a misspelt key is often the reason why another one is missing. */
function firstProblem(error: z.ZodError): ConfigError {
  const [issue] = error.issues;
  const unknown = unknownKeys(error.issues, [])[0];
  if (unknown !== undefined) return new ConfigError(unknown, "unknown key");
  // Says why a key may not have this name.
  const nested = issue?.code === "invalid_key" ? issue.issues[0] : undefined;
  return new ConfigError(issue?.path.join(".") ?? "", nested?.message ?? issue?.message ?? "invalid value");
}

/** The paths of all unknown keys, including those in the alternatives of a union. */
function unknownKeys(issues: z.core.$ZodIssue[], above: PropertyKey[]): string[] {
  return issues.flatMap((issue) => {
    const path = [...above, ...issue.path];
    if (issue.code === "unrecognized_keys") return issue.keys.map((key) => [...path, key].join("."));
    return issue.code === "invalid_union" ? issue.errors.flatMap((nested) => unknownKeys(nested, path)) : [];
  });
}

function checkPrefixes(config: Config): void {
  const owners = new Map(Object.keys(config.providers).map((prefix) => [prefix, prefix]));
  for (const [prefix, provider] of Object.entries(config.providers)) {
    for (const alias of provider.aliases) {
      const owner = owners.get(alias);
      if (owner !== undefined)
        throw new ConfigError(`providers.${prefix}.aliases`, `${alias} is already a prefix of ${owner}`);
      owners.set(alias, prefix);
    }
  }
}

/** A target of a provider that is not there would never be tried, and nobody would notice. */
function checkRoutes(config: Config): void {
  const prefixes = prefixesOf(config);
  for (const [name, named] of Object.entries(config.routing.routes)) {
    const path = `routing.routes.${name}`;
    const prefix = prefixOf(name);
    if (prefix !== "" && !prefixes.has(prefix)) throw new ConfigError(path, `no provider has the prefix ${prefix}`);
    for (const { at, model } of modelsIn(named)) {
      const wanted = prefixOf(model);
      if (!prefixes.has(wanted)) throw new ConfigError(`${path}.${at}`, `no provider has the prefix ${wanted}`);
    }
  }
}

/** An alert for a channel that is not there would never be sent. */
function checkAlerts({ alerts }: Config): void {
  for (const [name, rule] of Object.entries(alerts?.rules ?? {})) {
    const missing = rule?.channels?.find((channel) => alerts?.channels[channel] === undefined);
    if (missing !== undefined)
      throw new ConfigError(`alerts.rules.${name}.channels`, `no channel has the name ${missing}`);
  }
}

const prefixesOf = ({ providers }: Config): ReadonlySet<string> =>
  new Set(Object.entries(providers).flatMap(([prefix, { aliases }]) => [prefix, ...aliases]));

/** An alias for a provider that is not there would look like an unknown model. */
function checkAliases(config: Config): void {
  const { models, routing } = config;
  const prefixes = prefixesOf(config);
  for (const [name, id] of Object.entries(models.aliases ?? {})) {
    if (Object.hasOwn(routing.routes, id)) continue;
    const path = `models.aliases.${name}`;
    const prefix = prefixOf(id);
    if (prefix === "") throw new ConfigError(path, "a model id with its prefix, or the name of a route");
    if (!prefixes.has(prefix)) throw new ConfigError(path, `no provider has the prefix ${prefix}`);
    if (id.includes("*") && !name.includes("*")) throw new ConfigError(path, `${id} has a *, but the name has none`);
  }
}

function prefixesWithoutKey(config: Config, missing: Map<string, string>): Map<string, string> {
  const prefixes = Object.entries(config.providers).filter(([, provider]) => providerKeys(provider).length === 0);
  return new Map(
    prefixes.map(([prefix]) => {
      const unset = [...missing].find(([path]) => path.startsWith(`providers.${prefix}.`));
      return [prefix, unset?.[1] ?? `providers.${prefix}.api_key`];
    }),
  );
}

/** One key of a provider. */
interface ProviderKey {
  /** Undefined for a key of api_key or api_keys, which is known by its hash. */
  name?: string;
  secret: string;
  weight?: number;
  /** Globs of the provider's names of models; all if undefined. */
  models?: readonly string[] | undefined;
}

type ProviderKeys = Partial<Pick<ProviderConfig, "api_key" | "api_keys" | "keys">>;

/** A provider's keys in the order of their use. */
export function providerKeys({ api_key: key, api_keys: several = [], keys: named = [] }: ProviderKeys): ProviderKey[] {
  const nameless = [key, ...several].flatMap((secret) => (secret === undefined ? [] : [{ secret }]));
  return [...nameless, ...named].filter(({ secret }) => secret !== "");
}

function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === "object") {
    for (const item of Object.values(value)) deepFreeze(item);
    Object.freeze(value);
  }
  return value;
}
