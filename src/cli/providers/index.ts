/** Targets out of use by hand, and a list of those that are left out. A running gateway learns of it from the storage. */
import type { Command } from "commander";
import type { ActOptions } from "../../audit/index.ts";
import { prefixOf, withoutPrefix } from "../../core/index.ts";
import {
  disableTarget,
  enableTarget,
  fetchListing,
  KeyPool,
  providerState,
  repairKey,
  type UpstreamRoute,
} from "../../routing/index.ts";
import { type CommonOptions, durationOption, reasonOption, UsageError, withCommonOptions } from "../options.ts";
import { printJson, printLine, printTable } from "../print.ts";
import { environment, type State } from "../state.ts";
import { withRoutes } from "./with-routes.ts";

interface ActingOptions extends CommonOptions {
  reason?: string;
}

interface DisableOptions extends ActingOptions {
  for?: number;
}

export function addProvidersCommands(program: Command): void {
  const providers = program.command("providers").description("targets that are left out, by themselves and by hand");
  const target = "a provider's prefix, or a model id with it";
  withCommonOptions(
    providers.command("list").description("list the providers, and their disabled, refused and left-out targets"),
  ).action(list);
  withCommonOptions(
    providers
      .command("disable")
      .description("let no new call go to a provider or to one of its models")
      .argument("<target>", target),
  )
    .option("--for <duration>", "how long, such as 1h; without it until it is enabled", durationOption("--for"))
    .option("--reason <text>", "why, for the list and the log", reasonOption("--reason"))
    .action(disable);
  withCommonOptions(providers.command("enable").description("end that").argument("<target>", target))
    .option("--reason <text>", "why, for the log", reasonOption("--reason"))
    .action(enable);
  withCommonOptions(
    providers
      .command("test")
      .description(
        "read the provider's list of models with each key, which is free; a refused key that can is used again",
      )
      .argument("<provider>", "its prefix"),
  )
    .option("--reason <text>", "why a key is used again, for the log", reasonOption("--reason"))
    .action(test);
}

/** The route of a prefix or an alias. Throws a `UsageError`. */
function routeOf(routes: readonly UpstreamRoute[], prefix: string): UpstreamRoute {
  const route = routes.find((each) => each.prefix === prefix || each.aliases.includes(prefix));
  if (route !== undefined) return route;
  throw new UsageError(
    `no provider has the prefix ${prefix}; there are ${routes.map((each) => each.prefix).join(", ")}`,
  );
}

/** The target with the provider's own prefix. */
function targetOf(routes: readonly UpstreamRoute[], target: string): string {
  if (!target.includes("/")) return routeOf(routes, target).prefix;
  const model = withoutPrefix(target);
  if (model === "") throw new UsageError(`${target} has no name after its prefix`);
  return `${routeOf(routes, prefixOf(target)).prefix}/${model}`;
}

async function list(options: CommonOptions): Promise<void> {
  const listed = await withRoutes(options, async ({ store, routes }) => {
    const now = environment.clock();
    const [overrides, states] = [await store.overrides(now), await store.statesSince(0)];
    return routes.map((route) => providerState(route, { overrides, states, now }));
  });
  if (options.json === true) return printJson(listed);
  const rows = listed.map(({ provider, state, keys, refused_keys: refused, disabled, left_out: leftOut }) => [
    provider,
    state,
    refused.length === 0 ? String(keys) : `${keys}, refused: ${refused.join(" ")}`,
    [
      ...disabled.map(({ target, until, reason }) =>
        [`${target} is disabled`, until && `until ${until}`, reason && `(${reason})`].filter(Boolean).join(" "),
      ),
      ...leftOut.map(({ model, until }) => `${model} is left out until ${until}`),
    ].join("; "),
  ]);
  printTable(["PROVIDER", "STATE", "KEYS", "NOT CALLED"], rows);
}

async function disable(named: string, options: DisableOptions): Promise<void> {
  const override = await withRoutes(options, ({ state, routes }) => {
    const now = environment.clock();
    const until = options.for === undefined ? undefined : now + options.for;
    return disableTarget(
      { ...state, ...environment },
      { target: targetOf(routes, named), until },
      actOf(state, options),
    );
  });
  const until = override.until === undefined ? null : new Date(override.until).toISOString();
  if (options.json === true) return printJson({ target: override.target, disabled: true, until });
  printLine(`${override.target} gets no new calls${until === null ? "" : ` until ${until}`}.`);
}

function actOf({ caller }: State, { reason }: { reason?: string }): ActOptions {
  return { actor: caller.actor, reason };
}

async function enable(named: string, options: ActingOptions): Promise<void> {
  const target = await withRoutes(options, async ({ state, routes }) => {
    const own = targetOf(routes, named);
    const isEnabled = await enableTarget({ ...state, ...environment }, own, actOf(state, options));
    if (!isEnabled) throw new UsageError(`${own} is not disabled`);
    return own;
  });
  if (options.json === true) return printJson({ target, disabled: false });
  printLine(`${target} gets calls again.`);
}

/** The result for one key. */
interface TestedKey {
  key: string;
  works: boolean;
  models?: number;
  reason?: string;
}

async function test(prefix: string, options: ActingOptions): Promise<void> {
  const tested = await withRoutes(options, async ({ state, store, routes }) => {
    const route = routeOf(routes, prefix);
    if (route.requiredVariable !== undefined)
      throw new UsageError(`${route.prefix} has no key; set ${route.requiredVariable}`);
    if (route.provider.models.from === "catalog") throw new UsageError(`${route.prefix} has no list of models to read`);
    const keys: TestedKey[] = [];
    for (const id of route.keys.ids) keys.push(await testKey(route, id));
    const states = await store.statesSince(0);
    for (const { key, works } of keys) {
      const refused = { prefix: route.prefix, keyId: key, states };
      if (works) await repairKey({ ...state, ...environment }, refused, actOf(state, options));
    }
    return keys;
  });
  if (tested.some(({ works }) => !works)) process.exitCode = 1;
  if (options.json === true) return printJson(tested);
  const rows = tested.map(({ key, works, models, reason }) => [
    key,
    works ? "works" : "fails",
    works ? `${models} models` : (reason ?? ""),
  ]);
  printTable(["KEY", "STATE", ""], rows);
}

async function testKey(route: UpstreamRoute, id: string): Promise<TestedKey> {
  const secret = route.keys.find(id)?.secret ?? "";
  try {
    const alone = { ...route, keys: new KeyPool([secret], environment.clock) };
    const models = await fetchListing(environment.fetch, alone);
    return { key: id, works: true, models: models.length };
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    return { key: id, works: false, reason: route.keys.redact(reason) };
  }
}
