/** One live run: a gateway with the operator's keys, in front of real providers; a caller with a cap; the plays; the end. */
import { parseCredits } from "../../src/core/index.ts";
import { loadConfig, type ProviderConfig, providerKeys } from "../../src/config/index.ts";
import { upstreamName } from "../../src/providers/index.ts";
import { readSections } from "../client-blocks/blocks.ts";
import { clients } from "../client-blocks/clients.ts";
import { installClient, runSection } from "../client-blocks/run-section.ts";
import { type Gateway, startGateway } from "../kit/gateway.ts";
import { drivers, plays } from "./plays.ts";
import { type Recorder, startRecorder } from "./recorder.ts";

export interface LiveOptions {
  /** The operator's configuration; by default the one that `serve` would read. */
  config: string | undefined;
  /** The most that the whole run may spend, in credits (US dollars of list price). */
  spend: string;
  /** Ids with prefix; by default a cheap model of each provider with a key. */
  models: readonly string[];
  /** The folder for new recordings, if there are to be any. */
  record: string | undefined;
  /** Whether the blocks of docs/clients.md are run too. */
  runsClients: boolean;
  /** Called for each result. */
  onResult: (result: LiveResult) => void;
}

interface LiveResult {
  title: string;
  /** Undefined if it passed. */
  failure: string | undefined;
}

/** The end of a run. */
export interface LiveReport {
  passed: number;
  failed: number;
  /** In credits. */
  spent: number;
  written: number;
  skipped: readonly string[];
}

/** A cheap model of each default provider that has all abilities of the plays. */
const cheapModels: Readonly<Record<string, string>> = {
  openai: "gpt-5-mini",
  anthropic: "claude-haiku-4-5",
  google: "gemini-2.5-flash",
  xai: "grok-4-1-fast-non-reasoning",
  deepseek: "deepseek-chat",
  mistral: "mistral-small-latest",
  byteplus: "seed-1-6-flash-250715",
};

const user = "live";

/** Runs everything. Throws if no provider has a key, or if the cap is no amount. */
export async function runLive(options: LiveOptions): Promise<LiveReport> {
  const { config, missingKeys } = loadConfig({ file: options.config, variables: process.env });
  const routed = Object.entries(config.providers).filter(([prefix]) => !missingKeys.has(prefix));
  if (routed.length === 0) throw new Error("no provider has a key: set OPENAI_API_KEY, or name a file with --config");
  const credits = parseCredits(options.spend);
  if (credits <= 0n) throw new Error("--spend: must be more than nothing");
  const secrets = routed.flatMap(([, provider]) => providerKeys(provider).map(({ secret }) => secret));
  const recorder = options.record === undefined ? undefined : recorderOf(routed, secrets, options.record);
  const { models, markup, markups, unpriced } = config.pricing;
  const gateway = await startGateway({
    ...providersOf(routed, recorder),
    config: { pricing: { models, markup, markups, unpriced }, upstream: { retries: 1 } },
  });
  const results: LiveResult[] = [];
  const note = (result: LiveResult): void => {
    results.push(result);
    options.onResult(result);
  };
  try {
    // The cap is the caller's balance, which the ledger never lets a call exceed.
    const token = await gateway.token({ user, credits });
    const asked = options.models.length > 0 ? options.models : routed.flatMap(([prefix]) => cheapModelOf(prefix));
    for (const model of asked) await playAll({ gateway, token, model, recorder, note });
    if (options.runsClients)
      await runBlocks({ gateway, token, recorder, note }, new Set(routed.map(([prefix]) => prefix)));
    const spent = await spentBy(gateway, token);
    const audit = await gateway.cli("ledger", "audit");
    note({ title: "the books balance", failure: audit.code === 0 ? undefined : audit.stdout + audit.stderr });
    const failed = results.filter(({ failure }) => failure !== undefined).length;
    const { written = 0, skipped = [] } = recorder ?? {};
    return { passed: results.length - failed, failed, spent, written, skipped };
  } finally {
    await gateway.stop();
    await recorder?.stop();
  }
}

function cheapModelOf(prefix: string): string[] {
  const model = cheapModels[prefix];
  return model === undefined ? [] : [`${prefix}/${model}`];
}

type Routed = readonly (readonly [prefix: string, provider: ProviderConfig])[];

function recorderOf(routed: Routed, secrets: readonly string[], folder: string): Recorder {
  const upstreams = new Map(
    routed.map(([prefix, provider]) => {
      const { kind, preset, base_url: baseUrl } = provider;
      return [prefix, { baseUrl, name: upstreamName({ kind, preset, baseUrl }) }] as const;
    }),
  );
  return startRecorder({ upstreams, folder, secrets, day: new Date().toISOString().slice(0, 10) });
}

/** The same providers, through the recorder if there is one. Their keys stay in the environment of the process. */
function providersOf(routed: Routed, recorder: Recorder | undefined) {
  const variables: Record<string, string> = {};
  const providers = routed.map(([prefix, provider], place) => {
    const { kind, preset, base_url: baseUrl, aliases, dialects } = provider;
    const api_keys = providerKeys(provider).map(({ secret }, index) => {
      const name = `TOLLGATE_LIVE_KEY_${place}_${index}`;
      variables[name] = secret;
      return `\${${name}}`;
    });
    // A compatible provider is recognized by its address, which the recorder's hides.
    const named = upstreamName({ kind, preset, baseUrl });
    const entry = {
      kind,
      base_url: recorder?.urlOf(prefix) ?? baseUrl,
      api_keys,
      aliases,
      ...(kind === "openai-compatible" ? { preset: preset ?? presetOf(named) } : {}),
      ...(dialects === undefined ? {} : { dialects }),
    };
    return [prefix, entry] as const;
  });
  return { providers: Object.fromEntries(providers), variables };
}

const presetOf = (name: string): string => (name === "openai-compatible" ? "generic" : name);

interface Stage {
  gateway: Gateway;
  token: string;
  recorder: Recorder | undefined;
  note: (result: LiveResult) => void;
}

async function playAll({ gateway, token, model, recorder, note }: Stage & { model: string }): Promise<void> {
  for (const [dialect, driverOf] of Object.entries(drivers)) {
    for (const [name, play] of Object.entries(plays)) {
      const title = `${model}, ${dialect}, ${name}`;
      if (recorder !== undefined) recorder.label = title;
      const driver = driverOf({ url: gateway.url, token });
      note({ title, failure: await failureOf(() => play((ask) => driver.ask({ ...ask, model }))) });
    }
  }
}

async function runBlocks({ gateway, token, recorder, note }: Stage, prefixes: ReadonlySet<string>): Promise<void> {
  for (const section of readSections()) {
    const client = clients[section.client];
    if (client === undefined || !("models" in client)) continue;
    if (!client.models.every((model) => prefixes.has(model.split("/")[0] ?? ""))) continue;
    const title = `${section.client}, the block of docs/clients.md`;
    if (recorder !== undefined) recorder.label = title;
    const failure = await failureOf(async () => {
      const installed = await installClient(client);
      if ("missing" in installed) throw new Error(installed.missing);
      await runSection(section, { url: gateway.url, bin: installed.bin, token });
    });
    note({ title, failure });
  }
}

async function failureOf(play: () => Promise<void>): Promise<string | undefined> {
  try {
    await play();
    return undefined;
  } catch (reason) {
    return reason instanceof Error ? reason.message : JSON.stringify(reason);
  }
}

async function spentBy({ url }: Gateway, token: string): Promise<number> {
  const answer = await fetch(`${url}/v1/user/info`, { headers: { authorization: `Bearer ${token}` } });
  return ((await answer.json()) as { spend: number }).spend;
}
