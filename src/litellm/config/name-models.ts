/** The names of LiteLLM's models become aliases and routes. */
import { objectOf, prefixOf } from "../../core/index.ts";
import type { Findings } from "../finding.ts";
import type { Placed } from "./place-deployments.ts";
import { type LitellmConfig, textOf } from "./read-config.ts";

interface RouteTarget {
  model: string;
  weight?: number;
  on?: string[];
}

interface NamedRoute {
  strategy: string;
  tiers: RouteTarget[][];
}

/** The names of the new configuration. */
export interface ModelNames {
  aliases: Map<string, string>;
  routes: Map<string, NamedRoute>;
  /** By LiteLLM's name: the globs that permit it in a list of models. */
  permits: Map<string, string[]>;
}

/** By the kind of a fallback: the failures after which it is tried. */
const failures = {
  fallbacks: ["unavailable"],
  context_window_fallbacks: ["context_window"],
  content_policy_fallbacks: ["content_policy"],
} as const;

type FallbackKind = keyof typeof failures;

const strategies: Readonly<Record<string, [strategy: string, isExact: boolean]>> = {
  "simple-shuffle": ["weighted", true],
  "least-busy": ["least_busy", true],
  "cost-based-routing": ["least_cost", true],
  "latency-based-routing": ["least_busy", false],
  "usage-based-routing": ["weighted", false],
  "usage-based-routing-v2": ["weighted", false],
};

interface Named {
  config: LitellmConfig;
  placed: readonly Placed[];
  prefixes: ReadonlySet<string>;
  findings: Findings;
}

export function nameModels({ config, placed, prefixes, findings }: Named): ModelNames {
  const names: ModelNames = { aliases: new Map(), routes: new Map(), permits: new Map() };
  const groups = Map.groupBy(placed, ({ deployment }) => deployment.name);
  const strategy = strategyOf(config, findings);
  const fallbacks = fallbacksOf(config, groups, findings);
  for (const [name, group] of groups) {
    const tiers = tiersOf(group);
    for (const { on, to } of fallbacks.get(name) ?? []) addFallback(tiers, { on, targets: groups.get(to) ?? [] });
    if (!name.includes("*")) leaveOutPatterns(tiers, name, findings);
    addName(names, { name, route: { strategy, tiers }, prefixes, findings });
  }
  addGroupAliases(names, { config, findings, prefixes });
  return names;
}

function strategyOf({ router }: LitellmConfig, findings: Findings): string {
  const wanted = textOf(router["routing_strategy"]);
  if (wanted === undefined) return "weighted";
  const [strategy, isExact] = strategies[wanted] ?? ["weighted", false];
  findings.note("router_settings.routing_strategy", isExact ? "exact" : "approximate", `strategy: ${strategy}`);
  return strategy;
}

/** The tiers of a group by `order`; the same model behind several keys is one target, whose provider has the keys. */
function tiersOf(group: readonly Placed[]): RouteTarget[][] {
  const byOrder = Map.groupBy(group, ({ order }) => order);
  const orders = [...byOrder.keys()].toSorted((one, other) => one - other);
  const seen = new Set<string>();
  return orders.flatMap((order) => {
    const weights = new Map<string, number>();
    for (const { id, weight } of byOrder.get(order) ?? [])
      if (!seen.has(id)) weights.set(id, (weights.get(id) ?? 0) + weight);
    for (const id of weights.keys()) seen.add(id);
    const isWeighed = weights.size > 1;
    const targets = [...weights].map(([model, weight]): RouteTarget =>
      isWeighed && weight !== 1 ? { model, weight } : { model },
    );
    return targets.length === 0 ? [] : [targets];
  });
}

function addFallback(tiers: RouteTarget[][], { on, targets }: { on: readonly string[]; targets: readonly Placed[] }) {
  const tier: RouteTarget[] = [];
  for (const { id } of targets) {
    const there = [...tiers.slice(1).flat(), ...tier].find(({ model }) => model === id);
    if (there?.on !== undefined) there.on = [...new Set([...there.on, ...on])];
    else if (tiers.every((each) => each.every(({ model }) => model !== id))) tier.push({ model: id, on: [...on] });
  }
  if (tier.length > 0) tiers.push(tier);
}

/** A target is one model. */
function leaveOutPatterns(tiers: RouteTarget[][], name: string, findings: Findings): void {
  for (const tier of tiers) {
    const patterns = tier.filter(({ model }) => model.includes("*"));
    for (const { model } of patterns) {
      findings.note(`model_list: ${name}`, "by hand", `${model} is a pattern, and no target of a route`);
      tier.splice(
        tier.findIndex((each) => each.model === model),
        1,
      );
    }
  }
  tiers.splice(0, tiers.length, ...tiers.filter(({ length }) => length > 0));
}

interface Fallback {
  on: readonly string[];
  to: string;
}

/** A fallback as a setting names it; `*` stands for every name. */
interface NamedFallback {
  field: string;
  from: string;
  to: string;
  on: readonly string[];
}

function namedFallbacks({ litellm, router }: LitellmConfig): NamedFallback[] {
  const kinds: FallbackKind[] = ["context_window_fallbacks", "content_policy_fallbacks", "fallbacks"];
  return Object.entries({ litellm_settings: litellm, router_settings: router }).flatMap(([section, settings]) => [
    ...kinds.flatMap((kind) =>
      pairsIn(settings[kind]).map(([from, to]) => ({ field: `${section}.${kind}`, from, to, on: failures[kind] })),
    ),
    ...textsIn(settings["default_fallbacks"]).map((to) => ({
      field: `${section}.default_fallbacks`,
      from: "*",
      to,
      on: failures.fallbacks,
    })),
  ]);
}

/** The fallbacks of each name, in their order. */
function fallbacksOf(
  config: LitellmConfig,
  groups: ReadonlyMap<string, readonly Placed[]>,
  findings: Findings,
): Map<string, Fallback[]> {
  const found = new Map<string, Fallback[]>();
  for (const { field, from, to, on } of namedFallbacks(config)) {
    const names = from === "*" ? [...groups.keys()] : [from].filter((name) => groups.has(name));
    if (!groups.has(to) || names.length === 0)
      findings.note(field, "by hand", `${from} → ${to}: one of them was not imported`);
    const others = groups.has(to) ? names.filter((name) => name !== to) : [];
    for (const name of others) found.set(name, [...(found.get(name) ?? []), { on, to }]);
  }
  return found;
}

/** `[{ a: [b, c] }]` as pairs. */
function pairsIn(value: unknown): [from: string, to: string][] {
  const list = Array.isArray(value) ? value : [];
  return list.flatMap((entry) =>
    Object.entries(objectOf(entry) ?? {}).flatMap(([from, to]) =>
      textsIn(to).map((each): [string, string] => [from, each]),
    ),
  );
}

function textsIn(value: unknown): string[] {
  return (Array.isArray(value) ? value : []).flatMap((each) => textOf(each) ?? []);
}

interface AddedName {
  name: string;
  route: NamedRoute;
  prefixes: ReadonlySet<string>;
  findings: Findings;
}

function addName(names: ModelNames, { name, route, prefixes, findings }: AddedName): void {
  const targets = route.tiers.flat();
  const [only] = targets;
  const prefix = prefixOf(name);
  const isOwn = prefix !== "" && prefixes.has(prefix);
  if (only === undefined) return;
  if (name === only.model && targets.length === 1) {
    names.permits.set(name, [name]);
    return;
  }
  if (name.includes("*")) return addGlob(names, { name, route, prefixes, findings });
  if (targets.length === 1 && !isOwn) {
    names.aliases.set(name, only.model);
    names.permits.set(name, [only.model]);
    return;
  }
  if (prefix !== "" && !isOwn) {
    // The name of a route has a provider's prefix or none.
    const own = name.replaceAll("/", "-");
    names.aliases.set(name, own);
    names.routes.set(own, route);
    names.permits.set(name, [own]);
    return;
  }
  names.routes.set(name, route);
  names.permits.set(name, [name]);
}

function addGlob(names: ModelNames, { name, route, prefixes, findings }: AddedName): void {
  const targets = route.tiers.flat();
  const [first] = targets;
  if (first === undefined) return;
  const permitted = first.model;
  if (targets.length > 1)
    findings.note(`model_list: ${name}`, "approximate", `a pattern has one target: ${first.model}, without the others`);
  const isOwn = prefixOf(name) !== "" && prefixes.has(prefixOf(name));
  if (isOwn || (name.match(/\*/g) ?? []).length > 1 || (permitted.match(/\*/g) ?? []).length > 1)
    findings.note(`model_list: ${name}`, "by hand", `callers name ${permitted} itself`);
  else names.aliases.set(name, permitted);
  names.permits.set(name, [permitted]);
}

function addGroupAliases(names: ModelNames, { config, findings, prefixes }: Omit<Named, "placed">): void {
  for (const [section, settings] of [
    ["router_settings", config.router],
    ["litellm_settings", config.litellm],
  ] as const) {
    for (const [alias, value] of Object.entries(objectOf(settings["model_group_alias"]) ?? {})) {
      const field = `${section}.model_group_alias.${alias}`;
      const target = textOf(value) ?? textOf(objectOf(value)?.["model"]);
      const permitted = names.permits.get(target ?? "");
      if (target === undefined || permitted === undefined) {
        findings.note(field, "by hand", "the name that it stands for was not imported");
        continue;
      }
      const [id = target] = permitted;
      const route = names.routes.get(id);
      if (!prefixes.has(prefixOf(alias))) names.aliases.set(alias, id);
      else if (route === undefined) names.routes.set(alias, { strategy: "order", tiers: [[{ model: id }]] });
      else names.routes.set(alias, route);
      names.permits.set(alias, [...permitted]);
      if (objectOf(value)?.["hidden"] === true) findings.note(`${field}.hidden`, "impossible", "aliases are listed");
    }
  }
}
