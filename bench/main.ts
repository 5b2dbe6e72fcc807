import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { benchCases, geminiNative, messagesNative } from "./cases/index.ts";
import type { BenchCase } from "./cases/index.ts";
import { measureExtraction } from "./extraction/measure.ts";
import { measureBeside } from "./beside/measure.ts";
import { measureConsole } from "./console/measure.ts";
import { chat } from "./cases/chat.ts";
import { measurePauses, type PausesFigures } from "./pauses/measure.ts";
import { measureRoutes, type RoutesFigures } from "./routes/measure.ts";
import { measureSearch } from "./search/measure.ts";
import { measureTools } from "./tools/measure.ts";
import { measureHosted } from "./hosted/measure.ts";
import { measureFrontier } from "./frontier/measure.ts";
import { measureGrowth } from "./growth/measure.ts";
import { measureLedger } from "./ledger/measure.ts";
import { parseOptions, usage } from "./options.ts";
import type { Options } from "./options.ts";
import {
  budgetsPlanOf,
  comparisonPlanOf,
  consolePlanOf,
  describePlan,
  durationsOf,
  frontierPlanOf,
  openLoopPlanOf,
  realtimePlanOf,
  routesPlanOf,
  searchPlanOf,
  toolsPlanOf,
} from "./plans.ts";
import { allProxies, budgetsVariants, pauseVariants, routesVariants, tollgateOnSqlite } from "./proxies/index.ts";
import type { Proxy } from "./proxies/index.ts";
import { barsOf, barsTable } from "./report/bars.ts";
import { headlineOf, withHeadline, writeHeadline } from "./report/headline.ts";
import type { Results } from "./report/results.ts";
import { tables } from "./report/tables.ts";
import { compare } from "./scenarios/comparison.ts";
import type { ComparedCase, Sides } from "./scenarios/comparison.ts";
import { measureMatrix } from "./scenarios/matrix.ts";
import { measureOpenLoop } from "./scenarios/open-loop.ts";
import type { OpenLoopColumn } from "./scenarios/open-loop.ts";
import { measureOpenStreams } from "./scenarios/open-streams.ts";
import { progress, Rig } from "./scenarios/rig.ts";
import { soak } from "./scenarios/soak.ts";
import { measureStartUp } from "./scenarios/start-up.ts";
import { measureUploads } from "./scenarios/uploads.ts";
import { commitOf, openCheckout } from "./system/checkout.ts";
import { Children } from "./system/children.ts";
import { describeMachine, machineBusyMs } from "./system/machine.ts";
import { compareRealtime, measureRealtime, type RealtimeColumn } from "./realtime/measure.ts";
import { measurePages } from "./pages/measure.ts";
import { measureVideos } from "./videos/measure.ts";
import { choosePinning } from "./system/pinning.ts";
import type { Pinning } from "./system/pinning.ts";
import { useOfTree } from "./system/processes.ts";

interface Selection {
  proxies: Proxy[];
  missing: string[];
}

async function selectProxies(options: Options): Promise<Selection> {
  const selection: Selection = { proxies: [], missing: [] };
  for (const proxy of allProxies(options.tollgate)) {
    if (options.proxies !== null && !options.proxies.has(proxy.id)) continue;
    const why = await proxy.whyMissing();
    if (why === null) selection.proxies.push(proxy);
    else selection.missing.push(`No column for ${proxy.id}: ${why}.`);
  }
  return selection;
}

/** Starts each proxy once: one that cannot run here (a peer too old for this Node.js …) only loses its column. */
async function keepStartable(rig: Rig, { proxies, missing }: Selection): Promise<Selection> {
  const startable: Selection = { proxies: [], missing: [...missing] };
  for (const proxy of proxies) {
    try {
      const running = await proxy.start(rig.context);
      await running.stop();
      startable.proxies.push(proxy);
    } catch (error) {
      startable.missing.push(`No column for ${proxy.id}: ${messageOf(error)}`);
    }
  }
  return startable;
}

/** The checkout of the tested launcher, and the one that it is compared with. */
function comparedProxies(options: Options, against: string, directory: string): Sides<Proxy> {
  const root = join(import.meta.dirname, "..");
  const older = openCheckout({ what: against, root, directory });
  const newer = { launcher: options.tollgate, name: commitOf(dirname(dirname(options.tollgate))) };
  return {
    new: tollgateOnSqlite({ id: "new", label: `new (${newer.name})`, program: newer.launcher }),
    old: tollgateOnSqlite({ id: "old", label: `old (${older.name})`, program: older.launcher }),
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

type Measured = Pick<
  Results,
  | "cases"
  | "comparison"
  | "startUp"
  | "openLoop"
  | "openStreams"
  | "uploads"
  | "ledger"
  | "growth"
  | "videos"
  | "realtime"
  | "routes"
  | "budgets"
  | "native"
  | "pauses"
  | "extraction"
  | "pages"
  | "frontier"
  | "search"
  | "tools"
  | "hosted"
  | "beside"
  | "console"
  | "soak"
>;

const nothing: Measured = {
  cases: [],
  comparison: [],
  startUp: [],
  openLoop: [],
  openStreams: [],
  uploads: [],
  ledger: [],
  growth: [],
  videos: null,
  realtime: [],
  extraction: null,
  pages: null,
  frontier: [],
  search: [],
  tools: null,
  hosted: null,
  beside: null,
  console: [],
  routes: null,
  budgets: [],
  native: [],
  pauses: null,
  soak: null,
};

interface Prepared extends Selection {
  measure: () => Promise<Measured>;
}

async function prepare(rig: Rig, options: Options): Promise<Prepared> {
  if (options.against !== null) return prepareComparison(rig, options, options.against);
  const { proxies, missing } = await keepStartable(rig, await selectProxies(options));
  return { proxies, missing, measure: () => measureColumns(rig, proxies, options) };
}

function prepareComparison(rig: Rig, options: Options, against: string): Prepared {
  const proxies = comparedProxies(options, against, rig.context.children.directory);
  const cases = wantedCases(options);
  const measure = async (): Promise<Measured> => {
    const calls = cases.length > 0 ? await compare({ rig, proxies, cases, plan: comparisonPlanOf(options) }) : [];
    if (!isWanted(options, "realtime")) return { ...nothing, comparison: calls };
    return { ...nothing, comparison: [...calls, await compareRealtime(rig, proxies, realtimePlanOf(options))] };
  };
  return { proxies: [proxies.new, proxies.old], missing: [], measure };
}

/** Watched for three pauses, of 30 seconds each. */
const manyJobs = { jobs: 10_000, seconds: 95, megabytes: 500 };
const fewJobs = { jobs: 1_000, seconds: 65, megabytes: 100 };

async function measureColumns(rig: Rig, proxies: readonly Proxy[], options: Options): Promise<Measured> {
  if (options.soakMinutes !== null) return measureSoak(rig, proxies, options.soakMinutes);
  const cases = wantedCases(options);
  const startUp = isWanted(options, "start-up") ? await measureStartUp(rig, proxies, options.quick ? 1 : 3) : [];
  const measured = cases.length > 0 ? await measureMatrix(rig, proxies, cases, durationsOf(options)) : [];
  const openLoop = isWanted(options, "open-loop") ? await measureRates(rig, proxies, options) : [];
  const openStreams = isWanted(options, "open-streams") ? await measureOpenStreams(rig, proxies) : [];
  const uploads = isWanted(options, "uploads") ? await measureUploads(rig, proxies, options.quick ? 1 : 4) : [];
  const ledger = isWanted(options, "ledger") ? await measureLedger(options.quick ? 0.5 : 3, progress) : [];
  const growth = isWanted(options, "growth") ? await measureGrowth(options.quick ? 500_000 : 10_000_000, progress) : [];
  const videos = isWanted(options, "videos") ? await measureVideos(options.quick ? fewJobs : manyJobs, progress) : null;
  const realtime = isWanted(options, "realtime") ? await measureSessions(rig, proxies, options) : [];
  const extraction = isWanted(options, "extraction") ? await measureExtraction(progress) : null;
  const pages = isWanted(options, "pages") ? await measurePages(options.quick ? 10 : 60, progress) : null;
  const frontier = isWanted(options, "frontier") ? await measureFrontier(frontierPlanOf(options), progress) : [];
  const search = isWanted(options, "search") ? await measureSearch(searchPlanOf(options), progress) : [];
  const tools = isWanted(options, "tools") ? await measureTools(toolsPlanOf(options), progress) : null;
  const hosted = isWanted(options, "hosted") ? await measureHosted(options.quick ? 300 : 2_000, progress) : null;
  const beside = isWanted(options, "beside") ? await measureBeside(options.quick ? 8 : 30, progress) : null;
  const ofConsole = isWanted(options, "console") ? await measureConsole(consolePlanOf(options), progress) : [];
  const routes = isWanted(options, "routes") ? await measureRouted(rig, options) : null;
  const budgets = isWanted(options, "budgets") ? await measureBudgets(rig, options) : [];
  const native = isWanted(options, "gemini-native") ? await measureNative(rig, proxies, options) : [];
  const pauses = isWanted(options, "pauses") ? await measurePaused(rig, options) : null;
  const tollgates = { ledger, growth, videos, routes, budgets, native, pauses };
  const others = {
    ...tollgates,
    realtime,
    extraction,
    pages,
    frontier,
    search,
    tools,
    hosted,
    beside,
    console: ofConsole,
  };
  return { ...nothing, cases: measured, startUp, openLoop, openStreams, uploads, ...others };
}

/** Beside nginx only: no other peer relays WebSockets. */
function measureSessions(rig: Rig, proxies: readonly Proxy[], options: Options): Promise<RealtimeColumn[]> {
  const able = proxies.filter(({ id }) => id === "nginx" || id === "tollgate");
  return measureRealtime(rig, able, realtimePlanOf(options));
}

/** Tollgate alone: peers have other routes. */
async function measureRouted(rig: Rig, options: Options): Promise<RoutesFigures | null> {
  const proxies = routesVariants(options.tollgate);
  if ((await proxies.plain.whyMissing()) !== null) return null;
  return measureRoutes(rig, proxies, routesPlanOf(options));
}

/** A chat call of a gateway with four budgets beside it, and of one without any, in turns. */
async function measureBudgets(rig: Rig, options: Options): Promise<ComparedCase[]> {
  const { plain, budgeted } = budgetsVariants(options.tollgate);
  if ((await plain.whyMissing()) !== null) return [];
  return compare({ rig, proxies: { old: plain, new: budgeted }, cases: [chat], plan: budgetsPlanOf(options) });
}

/** A Gemini stream and a Messages stream with the same text, each relayed, in turns. */
async function measureNative(rig: Rig, proxies: readonly Proxy[], options: Options): Promise<ComparedCase[]> {
  const tollgate = proxies.find(({ id }) => id === "tollgate");
  if (tollgate === undefined) return [];
  const sides = { new: tollgate, old: tollgate };
  return compare({
    rig,
    proxies: sides,
    cases: [geminiNative],
    oldCase: messagesNative,
    plan: comparisonPlanOf(options),
  });
}

async function measurePaused(rig: Rig, options: Options): Promise<PausesFigures | null> {
  return measurePauses(rig, options.tollgate, options.quick ? 200_000 : 2_000_000);
}

/** Tollgate on disk beside its variants: no peer has a ledger. */
async function measureRates(rig: Rig, proxies: readonly Proxy[], options: Options): Promise<OpenLoopColumn[]> {
  const onDisk = proxies.find(({ id }) => id === "tollgate");
  if (onDisk === undefined) return [];
  return measureOpenLoop(rig, [onDisk, ...pauseVariants(options.tollgate)], openLoopPlanOf(options));
}

function wantedCases(options: Options): BenchCase[] {
  return benchCases.filter((benchCase) => isWanted(options, benchCase.name));
}

function isWanted(options: Options, name: string): boolean {
  return [...options.sections].some((section) => section === name);
}

/** A soak measures Tollgate's memory; another column is measured only if it alone was requested. */
async function measureSoak(rig: Rig, proxies: readonly Proxy[], minutes: number): Promise<Measured> {
  const proxy = proxies.find((candidate) => candidate.id === "tollgate") ?? proxies[0];
  if (proxy === undefined) throw new Error("there is nothing to soak");
  return { ...nothing, soak: await soak(rig, proxy, minutes) };
}

function conditionsOf(children: Children, pinning: Pinning, options: Options): string[] {
  return [
    describeMachine(children.directory),
    `Bun ${Bun.version}, Node.js ${nodeVersion()}`,
    `Cores: ${pinning.description}`,
    ...describePlan(options),
  ];
}

function nodeVersion(): string {
  if (Bun.which("node") === null) return "not installed";
  return Bun.spawnSync(["node", "--version"]).stdout.toString().trim().replace("v", "");
}

function ownBusyMs(): number {
  return useOfTree(process.pid).cpuMs;
}

/** The load by other work on the machine, in cores: distinguishes a disturbed run from a quiet one. */
function watchOtherLoad(): () => number {
  const start = { at: performance.now(), machine: machineBusyMs(), own: ownBusyMs() };
  return () => {
    const wallMs = performance.now() - start.at;
    return Math.max(0, machineBusyMs() - start.machine - (ownBusyMs() - start.own)) / wallMs;
  };
}

async function run(options: Options): Promise<number> {
  const children = new Children();
  const pinning = choosePinning(options.pin);
  const rig = await Rig.start(children, pinning);
  const { proxies, missing, measure } = await prepare(rig, options);
  const otherLoad = watchOtherLoad();
  const measured = await measure();
  const results: Results = {
    command: ["npm run bench", ...(process.argv.length > 2 ? ["--", ...process.argv.slice(2)] : [])].join(" "),
    at: new Date().toISOString().slice(0, 16).replace("T", " "),
    conditions: conditionsOf(children, pinning, options),
    columns: proxies.map((proxy) => ({ id: proxy.id, label: proxy.label(), setUp: proxy.setUp })),
    missing,
    ...measured,
    otherLoadCores: otherLoad(),
  };
  await rig.stop();
  return report(results, options);
}

function report(results: Results, options: Options): number {
  const bars = barsOf(results);
  process.stdout.write(`${tables(results)}\n${barsTable(bars)}`);
  if (options.jsonFile !== null) writeFileSync(options.jsonFile, `${JSON.stringify({ ...results, bars }, null, 2)}\n`);
  if (options.write) writeFigures(results, options);
  const kept = bars.length > 0 && bars.every((bar) => bar.kept);
  return options.strict && !kept ? 1 : 0;
}

/** Takes the figures of a chat call over into the documents that name them. */
function writeFigures(results: Results, { tollgate }: Options): void {
  const root = join(import.meta.dirname, "..");
  const performanceFile = join(root, "docs/performance.md");
  const readmeFile = join(root, "README.md");
  const headline = headlineOf(results, commitOf(dirname(dirname(tollgate))));
  const performance = writeHeadline(readFileSync(performanceFile, "utf8"), headline);
  writeFileSync(performanceFile, performance);
  writeFileSync(readmeFile, withHeadline(readFileSync(readmeFile, "utf8"), performance));
}

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  if (options === "help") {
    process.stdout.write(usage);
    return 0;
  }
  if (process.platform !== "linux") throw new Error("the benchmark reads /proc and so needs Linux");
  return run(options);
}

try {
  process.exit(await main());
} catch (error) {
  process.stderr.write(`bench: ${messageOf(error)}\n`);
  process.exit(2);
}
