import { extractionTable } from "../extraction/report.ts";
import { besideTable } from "../beside/report.ts";
import { consoleTable } from "../console/report.ts";
import { searchTable } from "../search/report.ts";
import { hostedTable } from "../hosted/report.ts";
import { toolsTable } from "../tools/report.ts";
import { frontierTable } from "../frontier/report.ts";
import { growthTable } from "../growth/report.ts";
import { budgetsTable } from "../budgets/report.ts";
import { pausesTable } from "../pauses/report.ts";
import { routesTable } from "../routes/report.ts";
import { realtimeTable } from "../realtime/report.ts";
import { pagesTable } from "../pages/report.ts";
import { videosTable } from "../videos/report.ts";
import { ledgerTable } from "../ledger/report.ts";
import { directId, manyCallers } from "../scenarios/matrix.ts";
import type { CaseResult } from "../scenarios/matrix.ts";
import type { OpenStreamsResult } from "../scenarios/open-streams.ts";
import type { SoakResult } from "../scenarios/soak.ts";
import type { StartUpResult } from "../scenarios/start-up.ts";
import { uploadCount } from "../scenarios/uploads.ts";
import type { UploadsResult, UploadWave } from "../scenarios/uploads.ts";
import { comparisonTable } from "./comparison.ts";
import { openLoopTables } from "./open-loop.ts";
import { figuresOf, soakMemoryOf, uploadCpuMsOf, uploadPeakBytesOf } from "./figures.ts";
import type { Figures } from "./figures.ts";
import { count, decimals, markdownTable, megabytes, microseconds, milliseconds, percent } from "./format.ts";
import { median } from "./median.ts";
import type { Results } from "./results.ts";

interface Row {
  name: string;
  show(figures: Figures): string;
}

const times: Row[] = [
  { name: "added p50, 1 caller, ms", show: (figures) => milliseconds(figures.oneCaller.p50) },
  { name: "added p99, 1 caller, ms", show: (figures) => milliseconds(figures.oneCaller.p99) },
  { name: `added p50, ${manyCallers} callers, ms`, show: (figures) => milliseconds(figures.manyCallers.p50) },
  { name: `added p99, ${manyCallers} callers, ms`, show: (figures) => milliseconds(figures.manyCallers.p99) },
];

const firstEventTimes: Row[] = [
  { name: "added to first event p50, 1 caller, ms", show: (figures) => milliseconds(figures.oneCaller.firstEventP50) },
  { name: "added to first event p99, 1 caller, ms", show: (figures) => milliseconds(figures.oneCaller.firstEventP99) },
  {
    name: `added to first event p50, ${manyCallers} callers, ms`,
    show: (figures) => milliseconds(figures.manyCallers.firstEventP50),
  },
  {
    name: `added to first event p99, ${manyCallers} callers, ms`,
    show: (figures) => milliseconds(figures.manyCallers.firstEventP99),
  },
];

const databaseRow: Row = {
  name: "database's CPU, % of a core",
  show: (figures) => percent(figures.databaseShare),
};

function rowsOf(all: readonly Figures[]): Row[] {
  const floor = all.find((figures) => figures.proxyId === "nginx")?.cpuMicroseconds ?? Number.NaN;
  const hasDatabase = all.some((figures) => Number.isFinite(figures.databaseShare));
  const streamed = all.some((figures) => Number.isFinite(figures.oneCaller.firstEventP50));
  return [
    { name: `requests a second, ${manyCallers} callers`, show: (figures) => count(figures.perSecond) },
    { name: "CPU µs a request", show: (figures) => microseconds(figures.cpuMicroseconds) },
    { name: "… times nginx's", show: (figures) => decimals(figures.cpuMicroseconds / floor, 1) },
    { name: "requests a second of one core (10⁶ / CPU µs)", show: (figures) => count(figures.oneCorePerSecond) },
    ...times,
    ...(streamed ? firstEventTimes : []),
    { name: "resident memory, MB", show: (figures) => megabytes(figures.residentBytes) },
    { name: "proxy's CPU, % of a core", show: (figures) => percent(figures.proxyShare) },
    { name: "upstream's CPU, % of a core", show: (figures) => percent(figures.upstreamShare) },
    { name: "load generator's CPU, % of a core", show: (figures) => percent(figures.loadShare) },
    ...(hasDatabase ? [databaseRow] : []),
    { name: "requests a second limited by", show: limitOf },
  ];
}

/** The limiting factor of the requests a second. */
function limitOf(figures: Figures): string {
  const busy = 0.9;
  if (figures.proxyShare >= busy) return "the proxy";
  const { upstreamShare, loadShare, databaseShare } = figures;
  if (Number.isFinite(databaseShare))
    return upstreamShare + loadShare + databaseShare >= busy ? "database and load generator" : "neither";
  return upstreamShare + loadShare >= busy ? "the load generator" : "neither";
}

function caseTable(result: CaseResult, labelOf: (id: string) => string): string {
  const all = figuresOf(result);
  const head = [result.title, ...all.map((figures) => labelOf(figures.proxyId))];
  const rows = rowsOf(all).map((row) => [
    row.name,
    ...all.map((figures) => (figures.problem === null ? row.show(figures) : "invalid")),
  ]);
  const problems = all
    .filter((figures) => figures.problem !== null)
    .map((figures) => `\n${labelOf(figures.proxyId)}: invalid, ${figures.problem ?? ""}\n`);
  return `${markdownTable(head, rows)}\n${problems.join("")}`;
}

function startUpTable(results: readonly StartUpResult[], labelOf: (id: string) => string): string {
  const rows = [
    ["process start to the first answered call, ms", ...results.map((result) => count(median(result.firstAnswerMs)))],
    ["memory after that call and 2 s of nothing, MB", ...results.map((result) => megabytes(result.idleBytes))],
  ];
  return `${markdownTable(["Start-up", ...results.map((result) => labelOf(result.proxyId))], rows)}\n`;
}

function openStreamsTable(results: readonly OpenStreamsResult[], labelOf: (id: string) => string): string {
  const row = (name: string, show: (result: OpenStreamsResult) => string): string[] => [name, ...results.map(show)];
  const rows = [
    row("streams open at once", (result) => count(result.streams)),
    row("memory before, MB", (result) => megabytes(result.idleBytes)),
    row("memory with all open, MB", (result) => megabytes(result.openBytes)),
    row("memory after their ends, MB", (result) => megabytes(result.endedBytes)),
    row("CPU µs a relayed event", (result) => microseconds(result.cpuMicrosecondsAnEvent)),
    row("first event p50, ms", (result) => milliseconds(result.firstEvent?.p50 ?? Number.NaN)),
    row("first event p99, ms", (result) => milliseconds(result.firstEvent?.p99 ?? Number.NaN)),
    row("problems", (result) => result.problem ?? "none"),
  ];
  const head = ["Open streams, an event a second on each", ...results.map((result) => labelOf(result.proxyId))];
  return `${markdownTable(head, rows)}\n`;
}

function uploadsTable(results: readonly UploadsResult[], labelOf: (id: string) => string): string {
  const floor = uploadCpuMsOf(results.find((result) => result.proxyId === "nginx"));
  const row = (name: string, show: (result: UploadsResult) => string): string[] => [name, ...results.map(show)];
  const rows = [
    row("memory before, MB", (result) => megabytes(result.idleBytes)),
    row("most memory, MB", (result) => megabytes(uploadPeakBytesOf(result))),
    row("… wave by wave", (result) => waveByWave(result, (wave) => wave.peakBytes)),
    row("memory after each wave, MB", (result) => waveByWave(result, (wave) => wave.endedBytes)),
    row("a wave, s", (result) => decimals(median(result.waves.map((wave) => wave.wallMs)) / 1_000, 2)),
    row("MB a second", (result) => count(median(result.waves.map((wave) => wave.megabytesASecond)))),
    row("CPU ms an upload", (result) => decimals(uploadCpuMsOf(result), 1)),
    row("… times nginx's", (result) => decimals(uploadCpuMsOf(result) / floor, 1)),
    row("problems", (result) => result.problem ?? "none"),
  ];
  const title = `Waves of ${uploadCount} uploads of 20 MB at once`;
  return `${markdownTable([title, ...results.map((result) => labelOf(result.proxyId))], rows)}\n`;
}

function waveByWave({ waves }: UploadsResult, bytesOf: (wave: UploadWave) => number): string {
  return waves.map((wave) => megabytes(bytesOf(wave))).join(", ");
}

function soakTable(result: SoakResult, labelOf: (id: string) => string): string {
  const memory = soakMemoryOf(result);
  const rows = [
    ["calls read to their end", count(result.completed)],
    ["streams that the client hung up on", count(result.hangUps)],
    ["memory at the start (second fifth), MB", megabytes(memory.startBytes)],
    ["memory at the end (last fifth), MB", megabytes(memory.endBytes)],
    ["most memory seen, MB", megabytes(Math.max(...result.residentBytes))],
    ["largest write-ahead log, MB", megabytes(result.walBytes)],
    ["problems", result.problem ?? "none"],
  ];
  return `${markdownTable([`Soak, ${result.minutes} minutes`, labelOf(result.proxyId)], rows)}\n`;
}

/** The whole report but for the bars, as Markdown. */
export function tables(results: Results): string {
  const labels = new Map(results.columns.map((column) => [column.id, column.label]));
  const labelOf = (id: string): string => (id === directId ? "direct" : (labels.get(id) ?? id));
  const parts = results.cases.map((result) => caseTable(result, labelOf));
  if (results.comparison.length > 0) parts.push(comparisonTable(results.comparison));
  if (results.startUp.length > 0) parts.push(startUpTable(results.startUp, labelOf));
  if (results.ledger.length > 0) parts.push(ledgerTable(results.ledger));
  if (results.growth.length > 0) parts.push(growthTable(results.growth));
  if (results.videos !== null) parts.push(videosTable(results.videos));
  if (results.extraction !== null) parts.push(extractionTable(results.extraction));
  if (results.pages !== null) parts.push(pagesTable(results.pages));
  if (results.frontier.length > 0) parts.push(frontierTable(results.frontier));
  if (results.search.length > 0) parts.push(searchTable(results.search));
  if (results.tools !== null) parts.push(toolsTable(results.tools));
  if (results.hosted !== null) parts.push(hostedTable(results.hosted));
  if (results.beside !== null) parts.push(besideTable(results.beside));
  if (results.console.length > 0) parts.push(consoleTable(results.console));
  if (results.routes !== null) parts.push(routesTable(results.routes));
  if (results.budgets.length > 0) parts.push(budgetsTable(results.budgets));
  if (results.pauses !== null) parts.push(pausesTable(results.pauses));
  if (results.realtime.length > 0) parts.push(realtimeTable(results.realtime, labelOf));
  if (results.openLoop.length > 0) parts.push(openLoopTables(results.openLoop));
  if (results.openStreams.length > 0) parts.push(openStreamsTable(results.openStreams, labelOf));
  if (results.uploads.length > 0) parts.push(uploadsTable(results.uploads, labelOf));
  if (results.soak !== null) parts.push(soakTable(results.soak, labelOf));
  return [preamble(results), ...parts].join("\n");
}

function preamble(results: Results): string {
  const lines = [
    ...results.conditions,
    `Other work on this machine kept ${decimals(results.otherLoadCores, 2)} cores busy during the run.`,
    ...results.columns.map((column) => `${column.label}: ${column.setUp}.`),
    ...results.missing,
  ];
  return `\`${results.command}\`, ${results.at}\n\n${lines.map((line) => `- ${line}`).join("\n")}\n`;
}
