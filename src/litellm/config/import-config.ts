/** A configuration of LiteLLM becomes one of ours. */
import { keysOf, objectOf, prefixOf } from "../../core/index.ts";
import { Findings } from "../finding.ts";
import { deploymentFields, generalSettings, litellmSettings, modelInfoFields, routerSettings } from "./fields.ts";
import { nameModels } from "./name-models.ts";
import { Deployments, type NewVariable, type PlacedProvider } from "./place-deployments.ts";
import { type LitellmConfig, numberOf, readLitellmConfig, variableIn } from "./read-config.ts";
import { readPrices } from "./read-prices.ts";

export interface ImportedConfig {
  /** The content of `tollgate.yaml`. Secrets are references to variables. */
  config: Readonly<Record<string, unknown>>;
  findings: Findings;
  newVariables: readonly NewVariable[];
  /** By LiteLLM's name of a model: the globs that permit it. */
  permits: ReadonlyMap<string, readonly string[]>;
}

/** Converts the parsed file. Throws a `TypeError` if it is none of LiteLLM's. */
export function importConfig(value: unknown): ImportedConfig {
  const config = readLitellmConfig(value);
  const findings = new Findings();
  const deployments = new Deployments(config, findings);
  const { placed, providers, newVariables } = deployments;
  const prefixes = new Set(providers.map(({ prefix }) => prefix));
  const { aliases, routes, permits } = nameModels({ config, placed, prefixes, findings });
  addAccessGroups(permits, config);
  const prices = readPrices(placed, findings);
  for (const provider of providers) if (isFree(provider)) prices.set(`${provider.prefix}/*`, FREE);
  notePrices(deployments, prices);
  noteFields(config, findings);
  const upstream = upstreamOf(config, findings);
  return {
    config: {
      ...(upstream && { upstream }),
      providers: Object.fromEntries(providers.map((provider) => [provider.prefix, providerEntry(provider)])),
      ...(routes.size > 0 && { routing: { routes: Object.fromEntries(routes) } }),
      ...(prices.size > 0 && { pricing: { models: Object.fromEntries(prices) } }),
      ...(aliases.size > 0 && { models: { aliases: Object.fromEntries(aliases) } }),
    },
    findings,
    newVariables,
    permits,
  };
}

/** A name of a group in a list of models stands for the names in it; a model's own name goes before. */
function addAccessGroups(permits: Map<string, string[]>, { deployments }: LitellmConfig): void {
  const groups = new Map<string, string[]>();
  for (const { name, info } of deployments)
    for (const group of Array.isArray(info["access_groups"]) ? info["access_groups"] : [])
      groups.set(String(group), [...(groups.get(String(group)) ?? []), ...(permits.get(name) ?? [])]);
  for (const [group, globs] of groups) if (!permits.has(group)) permits.set(group, [...new Set(globs)]);
}

const FREE = { input_mtok: 0, output_mtok: 0 };

/** A server of one's own, for whose models LiteLLM charges nothing unless they have a price. */
const isFree = ({ preset, keys }: PlacedProvider): boolean => preset === "ollama" && keys.has("no-key");

/** LiteLLM serves a model without a price for nothing; here it is refused. */
function notePrices(deployments: Deployments, prices: ReadonlyMap<string, object>): void {
  for (const id of new Set(deployments.placed.map((placed) => placed.id))) {
    const provider = deployments.providers.find(({ prefix }) => prefix === prefixOf(id));
    const isPriced = prices.has(id) || prices.has(`${prefixOf(id)}/*`);
    const hasCatalog = provider?.kind !== "openai-compatible" || cataloged.has(provider.preset ?? "");
    if (!isPriced && !hasCatalog)
      deployments.findings.note(id, "by hand", "set its price in pricing.models: a model without a price is refused");
  }
}

/** Presets whose models have list prices. */
const cataloged: ReadonlySet<string> = new Set(["deepseek", "mistral", "groq", "moonshot", "perplexity", "openrouter"]);

function providerEntry({ kind, preset, baseUrl, keys }: PlacedProvider) {
  const all = new Set([...keys.values()].flatMap(({ models }) => [...models]));
  const list = [...keys].map(([name, { secret, weight, models }]) => ({
    name,
    secret,
    ...(weight !== 1 && keys.size > 1 && { weight }),
    // A key that is for all of them needs no list, and serves further models too.
    ...(models.size < all.size && { models: [...models] }),
  }));
  return { kind, ...(preset !== undefined && { preset }), base_url: baseUrl, keys: list };
}

const RETRIES_MAX = 10;

/** The settings of all requests to upstreams; the router's own come first, as in LiteLLM. */
function upstreamOf({ litellm, router }: LitellmConfig, findings: Findings) {
  const retries = numberOf(router["num_retries"] ?? router["max_retries"] ?? litellm["num_retries"]);
  const total = numberOf(router["timeout"] ?? litellm["request_timeout"]);
  const first = numberOf(router["stream_timeout"]);
  if (retries !== undefined && retries > RETRIES_MAX)
    findings.note("num_retries", "approximate", `upstream.retries is at most ${RETRIES_MAX}`);
  const settings = {
    ...(retries !== undefined && { retries: Math.min(RETRIES_MAX, Math.trunc(retries)) }),
    ...(total !== undefined && { total_timeout: `${Math.ceil(total)}s` }),
    ...(first !== undefined && { first_byte_timeout: `${Math.ceil(first)}s` }),
  };
  return Object.keys(settings).length === 0 ? undefined : settings;
}

const NONE: ReadonlySet<string> = new Set();

/** Notes every field of the file. Findings about single values have been noted by their readers. */
function noteFields(config: LitellmConfig, findings: Findings): void {
  const { deployments, unreadable, credentials, litellm, router, general, variables, others } = config;
  for (const { path, params, info } of deployments) {
    findings.noteMembers(`${path}.litellm_params`, params, deploymentFields, NONE);
    findings.noteMembers(`${path}.model_info`, info, modelInfoFields, NONE);
  }
  for (const path of unreadable) findings.note(path, "by hand", "it has no model_name or no litellm_params");
  for (const [name, values] of credentials)
    for (const member of keysOf(objectOf(values) ?? {}))
      findings.note(`credential_list: ${name}.${member}`, "exact", "providers.*.keys, of the deployments that name it");
  findings.noteMembers("litellm_settings", litellm, litellmSettings, NONE);
  findings.noteMembers("router_settings", router, routerSettings, new Set(["routing_strategy"]));
  findings.noteMembers("general_settings", general, generalSettings, NONE);
  for (const [name, value] of Object.entries(variables)) {
    const isReference = typeof value === "string" && variableIn(value) !== undefined;
    const note = "set the variable in the environment of the gateway";
    findings.note(`environment_variables.${name}`, "by hand", isReference ? `${note}, from the other one` : note);
  }
  for (const name of others) findings.note(name, "by hand", "not known to the import");
}
