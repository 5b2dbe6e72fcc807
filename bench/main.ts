import { writeFileSync } from "node:fs";
import { benchCases } from "./cases/index.ts";
import { measureLedger } from "./ledger/measure.ts";
import { parseOptions, usage } from "./options.ts";
import type { Options } from "./options.ts";
import { allProxies } from "./proxies/index.ts";
import type { Proxy } from "./proxies/index.ts";
import { barsOf, barsTable } from "./report/bars.ts";
import type { Results } from "./report/results.ts";
import { tables } from "./report/tables.ts";
import { measureMatrix } from "./scenarios/matrix.ts";
import type { Durations } from "./scenarios/matrix.ts";
import { measureOpenStreams } from "./scenarios/open-streams.ts";
import { progress, Rig } from "./scenarios/rig.ts";
import { soak } from "./scenarios/soak.ts";
import { measureStartUp } from "./scenarios/start-up.ts";
import { measureUploads } from "./scenarios/uploads.ts";
import { Children } from "./system/children.ts";
import { describeMachine, machineBusyMs } from "./system/machine.ts";
import { choosePinning } from "./system/pinning.ts";
import type { Pinning } from "./system/pinning.ts";
import { useOfTree } from "./system/processes.ts";

const full: Durations = {
  rounds: 3,
  warmUpSliceSeconds: 1,
  warmUpSlicesMax: 15,
  oneCallerSeconds: 2,
  manyCallersSeconds: 2.5,
};

/** Too short for Node.js to get warm: ratios to Portkey come out too good for us. */
const quick: Durations = {
  rounds: 1,
  warmUpSliceSeconds: 0.8,
  warmUpSlicesMax: 5,
  oneCallerSeconds: 1,
  manyCallersSeconds: 1.6,
};

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

/** Starts each proxy once: one that cannot run here (a peer too old for this Node.js …) costs its column, not the run. */
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

type Measured = Pick<Results, "cases" | "startUp" | "openStreams" | "uploads" | "ledger" | "soak">;

async function measure(rig: Rig, proxies: readonly Proxy[], options: Options): Promise<Measured> {
  if (options.soakMinutes !== null) return measureSoak(rig, proxies, options.soakMinutes);
  const cases = benchCases.filter((benchCase) => isWanted(options, benchCase.name));
  const startUp = isWanted(options, "start-up") ? await measureStartUp(rig, proxies, options.quick ? 1 : 3) : [];
  const measured = cases.length > 0 ? await measureMatrix(rig, proxies, cases, options.quick ? quick : full) : [];
  const openStreams = isWanted(options, "open-streams") ? await measureOpenStreams(rig, proxies) : [];
  const uploads = isWanted(options, "uploads") ? await measureUploads(rig, proxies, options.quick ? 1 : 4) : [];
  const ledger = isWanted(options, "ledger") ? await measureLedger(options.quick ? 0.5 : 3, progress) : [];
  return { cases: measured, startUp, openStreams, uploads, ledger, soak: null };
}

function isWanted(options: Options, name: string): boolean {
  return [...options.sections].some((section) => section === name);
}

/** Tollgate's memory is what a soak is about; another column is taken only when it alone was asked for. */
async function measureSoak(rig: Rig, proxies: readonly Proxy[], minutes: number): Promise<Measured> {
  const proxy = proxies.find((candidate) => candidate.id === "tollgate") ?? proxies[0];
  if (proxy === undefined) throw new Error("there is nothing to soak");
  return { cases: [], startUp: [], openStreams: [], uploads: [], ledger: [], soak: await soak(rig, proxy, minutes) };
}

function conditionsOf(children: Children, pinning: Pinning, options: Options): string[] {
  const durations = options.quick ? quick : full;
  return [
    describeMachine(children.directory),
    `Bun ${Bun.version}, Node.js ${nodeVersion()}`,
    `Cores: ${pinning.description}`,
    `Medians of ${durations.rounds} round(s) of ${durations.oneCallerSeconds} s with 1 caller and ` +
      `${durations.manyCallersSeconds} s with 16 callers; the proxies take turns`,
    "“added” is the time over the direct call's median of the same round; the direct column shows its own times",
  ];
}

function nodeVersion(): string {
  if (Bun.which("node") === null) return "not installed";
  return Bun.spawnSync(["node", "--version"]).stdout.toString().trim().replace("v", "");
}

function ownBusyMs(): number {
  return useOfTree(process.pid).cpuMs;
}

/** How busy the rest of the machine was, in cores: tells a disturbed run from a quiet one. */
function watchOtherLoad(): () => number {
  const start = { at: performance.now(), machine: machineBusyMs(), own: ownBusyMs() };
  return () => {
    const wallMs = performance.now() - start.at;
    return Math.max(0, machineBusyMs() - start.machine - (ownBusyMs() - start.own)) / wallMs;
  };
}

async function run(options: Options): Promise<number> {
  const selection = await selectProxies(options);
  const children = new Children();
  const pinning = choosePinning(options.pin);
  const rig = await Rig.start(children, pinning);
  const { proxies, missing } = await keepStartable(rig, selection);
  const otherLoad = watchOtherLoad();
  const measured = await measure(rig, proxies, options);
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
  const kept = bars.length > 0 && bars.every((bar) => bar.kept);
  return options.strict && !kept ? 1 : 0;
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
