/** Deployments of LiteLLM become providers with keys, and targets. */
import type { ProviderKindName } from "../../config/index.ts";
import { Findings } from "../finding.ts";
import { foreignProviders, knownProviders, type KnownProvider, unprefixed } from "./providers.ts";
import { type LitellmConfig, type LitellmDeployment, numberOf, textOf, variableIn } from "./read-config.ts";

/** A key of a provider with the models that it is for. */
interface PlacedKey {
  secret: string;
  weight: number;
  models: Set<string>;
}

/** A provider of the new configuration. */
export interface PlacedProvider {
  prefix: string;
  kind: ProviderKindName;
  preset: string | undefined;
  baseUrl: string;
  /** By their names. */
  keys: Map<string, PlacedKey>;
}

/** A deployment as a target. */
export interface Placed {
  deployment: LitellmDeployment;
  /** With the provider's prefix. */
  id: string;
  weight: number;
  /** The tier of its route, from 0. */
  order: number;
}

/** Variables that hold a key which the file itself has: the operator has to set them. */
export interface NewVariable {
  name: string;
  /** The place of the key. */
  field: string;
}

/** Of a server that takes any key. */
const NO_KEY = "none";

export class Deployments {
  readonly providers: PlacedProvider[] = [];
  readonly placed: Placed[] = [];
  readonly newVariables: NewVariable[] = [];
  /** The variable of each key that the file itself has. The keys are compared, never shown. */
  readonly #variableOf = new Map<string, string>();
  readonly #config: LitellmConfig;
  readonly findings: Findings;

  constructor(config: LitellmConfig, findings: Findings) {
    this.#config = config;
    this.findings = findings;
    for (const deployment of config.deployments) this.#place(deployment);
  }

  #place(deployment: LitellmDeployment): void {
    const { path, params } = deployment;
    const model = textOf(params["model"]);
    if (model === undefined) return this.findings.note(`${path}.litellm_params.model`, "by hand", "no model is named");
    const split = splitModel(model, textOf(params["custom_llm_provider"]));
    if (split === undefined) {
      this.findings.note(path, "by hand", `${model}: the provider can't be told from the name`);
      return;
    }
    const known = Object.hasOwn(knownProviders, split.provider) ? knownProviders[split.provider] : undefined;
    if (known === undefined) {
      const name = Object.hasOwn(foreignProviders, split.provider) ? foreignProviders[split.provider] : split.provider;
      this.findings.note(path, "impossible", `${model}: there is no provider of the kind ${name}`);
      return;
    }
    const baseUrl = this.#baseUrlOf(deployment, known);
    if (baseUrl === undefined) {
      this.findings.note(`${path}.litellm_params.api_base`, "by hand", `${model}: its address is not named`);
      return;
    }
    const provider = this.#providerOf(split.provider, known, baseUrl);
    const weight = numberOf(params["weight"]) ?? numberOf(params["rpm"]) ?? numberOf(params["tpm"]) ?? 1;
    this.#addKey(deployment, { provider, known, upstream: split.name, weight: numberOf(params["weight"]) ?? 1 });
    const order = Math.max(0, Math.trunc(numberOf(params["order"]) ?? 1) - 1);
    this.placed.push({ deployment, id: `${provider.prefix}/${split.name}`, weight, order });
    if (known.note !== undefined) this.findings.note(path, "approximate", known.note);
  }

  /** A member of the deployment, or of the credential that it names. */
  #memberOf({ params }: LitellmDeployment, ...names: string[]): string | undefined {
    const credential = this.#config.credentials.get(textOf(params["litellm_credential_name"]) ?? "");
    for (const name of names) {
      const found = textOf(params[name]) ?? textOf(credential?.[name]);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #baseUrlOf(deployment: LitellmDeployment, { baseUrl, suffix = "" }: KnownProvider): string | undefined {
    const own = this.#memberOf(deployment, "api_base", "base_url");
    if (own === undefined) return baseUrl === undefined ? undefined : baseUrl + suffix;
    const variable = variableIn(own);
    const address = variable === undefined ? own.replace(/\/+$/, "") : `\${${variable}}`;
    return address.endsWith(suffix) ? address : address + suffix;
  }

  #providerOf(litellm: string, known: KnownProvider, baseUrl: string): PlacedProvider {
    // At another address, `openai` is any server with OpenAI's API.
    const isOpenai = known.kind === "openai" && /^https:\/\/([a-z0-9-]+\.)*openai\.com(\/|$)/.test(baseUrl);
    const kind = known.kind === "openai" && !isOpenai ? "openai-compatible" : known.kind;
    const found = this.providers.find((each) => each.kind === kind && each.baseUrl === baseUrl);
    if (found !== undefined) return found;
    const provider: PlacedProvider = {
      prefix: this.#freePrefix(known.prefix ?? litellm),
      kind,
      preset: known.preset,
      baseUrl,
      keys: new Map(),
    };
    this.providers.push(provider);
    return provider;
  }

  #freePrefix(wanted: string): string {
    const isTaken = (name: string): boolean => this.providers.some(({ prefix }) => prefix === name);
    let name = wanted;
    for (let number = 2; isTaken(name); number += 1) name = `${wanted}-${number}`;
    return name;
  }

  #addKey(
    deployment: LitellmDeployment,
    {
      provider,
      known,
      upstream,
      weight,
    }: { provider: PlacedProvider; known: KnownProvider; upstream: string; weight: number },
  ): void {
    const { name, secret } = this.#keyOf(deployment, provider, known);
    const key = provider.keys.get(name) ?? { secret, weight, models: new Set<string>() };
    key.models.add(upstream);
    provider.keys.set(name, key);
  }

  #keyOf(deployment: LitellmDeployment, { prefix }: PlacedProvider, known: KnownProvider) {
    const own = this.#memberOf(deployment, "api_key");
    const variable = own === undefined ? known.variable : variableIn(own);
    if (variable !== undefined) return { name: keyName(variable), secret: `\${${variable}}` };
    if (own === undefined || own.toLowerCase() === NO_KEY) return { name: "no-key", secret: NO_KEY };
    const made = this.#variableOf.get(own) ?? this.#newVariable(deployment, prefix);
    this.#variableOf.set(own, made);
    return { name: keyName(made), secret: `\${${made}}` };
  }

  #newVariable({ path }: LitellmDeployment, prefix: string): string {
    const name = `${prefix.toUpperCase().replaceAll(/\W/g, "_")}_IMPORTED_KEY_${this.newVariables.length + 1}`;
    const field = `${path}.litellm_params.api_key`;
    this.newVariables.push({ name, field });
    this.findings.note(field, "by hand", `set the variable ${name} to the key that is here`);
    return name;
  }
}

const keyName = (variable: string): string => variable.replace(/^_+/, "").slice(0, 64);

/** The provider and the upstream's name of a model. */
function splitModel(model: string, provider: string | undefined): { provider: string; name: string } | undefined {
  if (provider !== undefined) {
    const prefix = `${provider}/`;
    return { provider, name: model.startsWith(prefix) ? model.slice(prefix.length) : model };
  }
  const slash = model.indexOf("/");
  const [prefix, rest] = [model.slice(0, slash), model.slice(slash + 1)];
  if (slash > 0 && (Object.hasOwn(knownProviders, prefix) || Object.hasOwn(foreignProviders, prefix)))
    return { provider: prefix, name: rest.replace(/^(responses|converse)\//, "") };
  const known = unprefixed.find(([pattern]) => pattern.test(model));
  if (known !== undefined) return { provider: known[1], name: model };
  return slash > 0 ? { provider: prefix, name: rest } : undefined;
}
