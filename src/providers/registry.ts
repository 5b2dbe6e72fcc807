import type { PresetName, ProviderDialect, ProviderKindName } from "../config/index.ts";
import { anthropicOf } from "./anthropic/index.ts";
import { byteplus } from "./byteplus/index.ts";
import { cohere } from "./cohere/index.ts";
import { google } from "./google/index.ts";
import { jinaOf } from "./jina/index.ts";
import { openai } from "./openai/index.ts";
import { choosePreset, openaiCompatible } from "./openai-compatible/index.ts";
import type { Provider } from "./provider.ts";
import { voyageOf } from "./voyage/index.ts";
import { xai } from "./xai/index.ts";

/** The settings of a configured provider that select its implementation. */
export interface ProviderChoice {
  kind: ProviderKindName;
  preset?: PresetName | undefined;
  /** For Anthropic's kind; by default it depends on the host. */
  usageIncludesCache?: boolean | undefined;
  /** For the kind openai-compatible, which has chat anyway. */
  dialects?: readonly ProviderDialect[] | undefined;
  baseUrl: string;
}

const kinds = {
  openai: () => openai,
  google: () => google,
  xai: () => xai,
  anthropic: anthropicOf,
  byteplus: () => byteplus,
  cohere: () => cohere,
  jina: jinaOf,
  voyage: voyageOf,
  "openai-compatible": ({ preset, baseUrl, dialects }) =>
    openaiCompatible(choosePreset(preset, baseUrl), baseUrl, dialects),
} satisfies Record<ProviderKindName, (choice: ProviderChoice) => Provider>;

/** Creates the provider for a configured upstream; `baseUrl`: the address of another server that answers in its place. */
export function createProvider(choice: ProviderChoice, baseUrl = choice.baseUrl): Provider {
  const { kind, preset } = choice;
  const known = kind === "openai-compatible" ? choosePreset(preset, choice.baseUrl) : preset;
  return kinds[kind]({ ...choice, preset: known, baseUrl });
}

/** The name of a configured provider's API: its preset if it has one, else its kind. The simulators use it. */
export function upstreamName({ kind, preset, baseUrl }: ProviderChoice): string {
  if (kind !== "openai-compatible") return kind;
  const name = choosePreset(preset, baseUrl);
  return name === "generic" ? kind : name;
}
