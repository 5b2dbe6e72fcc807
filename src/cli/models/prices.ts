import type { Command } from "commander";
import { createModelRouter, createPriceBook, type RoutingOptions } from "../../app/routing/routing.ts";
import { fetchListing, listPrices, type UpstreamRoute } from "../../routing/index.ts";
import { ageText, type CatalogLayers, type PriceBook, type PriceDescription } from "../../pricing/index.ts";
import { readCatalogs } from "../catalogs.ts";
import { type CommonOptions, withCommonOptions } from "../options.ts";
import { printJson, printLine, printTable } from "../print.ts";
import { startSandbox } from "../sandbox.ts";
import { environment, readConfig } from "../state.ts";

interface PricesOptions extends CommonOptions {
  check?: boolean;
  sandbox?: boolean;
}

export function addModelPricesCommand(models: Command): void {
  withCommonOptions(models.command("prices").description("list the prices in force, before markup, with their origin"))
    .option("--check", "list the models of the routed providers that have no price; exit 1 if there are any")
    .option("--sandbox", "with --check: the simulators' models for providers without a key")
    // Options that `tollgate models` has too are read by that command.
    .action((_options: PricesOptions, command: Command) => prices(command.optsWithGlobals<PricesOptions>()));
}

async function prices(options: PricesOptions): Promise<void> {
  const loaded = readConfig(options);
  const sandbox = options.check === true && options.sandbox === true ? await startSandbox() : undefined;
  const { config, missingKeys } = loaded;
  const catalogs = await readCatalogs(loaded, options.storage);
  const routing = {
    config,
    missingKeys,
    sandbox: sandbox?.routesOf({ config, missingKeys }) ?? new Map<string, string>(),
    environment,
    catalogs,
  };
  try {
    if (options.check === true) await printUnpriced(routing, options);
    else printPrices(routing, options);
  } finally {
    sandbox?.stop();
  }
}

type Routing = RoutingOptions & { catalogs: CatalogLayers };

function printPrices(routing: Routing, { json }: PricesOptions): void {
  const rows = listPrices(createModelRouter(routing).routes, createPriceBook(routing));
  if (json === true) return printJson(rows);
  printTable(
    ["MODEL", "PRICES", "LAYER", "SOURCE"],
    rows.map(({ id, prices: listed, layer, source }) => [id, pricesText(listed), layer, source ?? ""]),
  );
  const age = routing.catalogs.age(environment.clock());
  if (age !== undefined) printLine(`${age.isOld ? "!! " : ""}${ageText(age)}`);
}

function describe(book: PriceBook, { prefix, provider }: UpstreamRoute, name: string): PriceDescription | undefined {
  return book.describe({ id: `${prefix}/${name}`, model: name, priceProvider: provider.priceProvider });
}

/** `input_mtok 2.5, output_mtok {"base":10,"tiers":[…]}`. */
function pricesText(listed: PriceDescription["prices"]): string {
  return Object.entries(listed)
    .filter(([key, value]) => value !== undefined && !["from", "daily", "days"].includes(key))
    .map(([key, value]) => `${key} ${JSON.stringify(value)}`)
    .join(", ");
}

async function printUnpriced(routing: Routing, { json }: PricesOptions): Promise<void> {
  const book = createPriceBook(routing);
  const routes = createModelRouter(routing).routes.filter((route) => route.requiredVariable === undefined);
  const listings = await Promise.all(routes.map(async (route) => ({ route, ...(await listingOf(route)) })));
  const listed = listings.flatMap(({ route, names }) => names.map((name) => ({ route, name })));
  const unpriced = listed
    .filter(({ route, name }) => describe(book, route, name) === undefined)
    .map(({ route, name }) => `${route.prefix}/${name}`);
  const failed = listings.flatMap(({ route, reason }) =>
    reason === undefined ? [] : [{ provider: route.prefix, reason }],
  );
  if (unpriced.length + failed.length > 0) process.exitCode = 1;
  if (json === true) return printJson({ models: listed.length, unpriced, failed });
  for (const id of unpriced) printLine(id);
  for (const { provider, reason } of failed) printLine(`!! the models of ${provider} cannot be listed: ${reason}`);
  printLine(`${listed.length} models of ${routes.length} providers, ${unpriced.length} without a price`);
}

async function listingOf(route: UpstreamRoute): Promise<{ names: string[]; reason?: string }> {
  try {
    const models = await fetchListing(environment.fetch, route);
    return { names: models.map(({ id }) => id) };
  } catch (reason) {
    return { names: [], reason: reason instanceof Error ? reason.message : String(reason) };
  }
}
