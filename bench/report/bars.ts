import { besideBars } from "../beside/report.ts";
import { consoleBars } from "../console/report.ts";
import { searchBars } from "../search/report.ts";
import { toolsBars } from "../tools/report.ts";
import { hostedBars } from "../hosted/report.ts";
import { frontierBars } from "../frontier/report.ts";
import { growthBars } from "../growth/report.ts";
import { budgetsBars } from "../budgets/report.ts";
import { pausesBars } from "../pauses/report.ts";
import { routesBars } from "../routes/report.ts";
import { realtimeBars } from "../realtime/report.ts";
import { pagesBars } from "../pages/report.ts";
import { videosBars } from "../videos/report.ts";
import { ledgerBars } from "../ledger/report.ts";
import { openStreamCount } from "../scenarios/open-streams.ts";
import { walBytesMax } from "../scenarios/wal.ts";
import { uploadCount } from "../scenarios/uploads.ts";
import type { Bar } from "./bar.ts";
import type { ComparedCase } from "../scenarios/comparison.ts";
import { comparedFiguresOf, comparisonBars } from "./comparison.ts";
import { figuresOf, soakMemoryOf, uploadPeakBytesOf } from "./figures.ts";
import type { Figures } from "./figures.ts";
import { count, decimals, markdownTable, megabytes, milliseconds, percent } from "./format.ts";
import { median } from "./median.ts";
import { openLoopBars } from "./open-loop.ts";
import type { Results } from "./results.ts";

const tollgateId = "tollgate";
const postgresId = "tollgate-postgres";

/** The share of requests a second that Postgres must keep relative to SQLite. */
const postgresShare = 0.6;

/** Only bars that apply to the run: no peer, no ratio. An invalid run keeps no bar. */
export function barsOf(results: Results): Bar[] {
  return [
    ...caseBars(results),
    ...translationBars(results),
    ...comparisonBars(results.comparison),
    ...startUpBars(results),
    ...ledgerBars(results.ledger),
    ...growthBars(results.growth),
    ...(results.videos === null ? [] : videosBars(results.videos)),
    ...(results.pages === null ? [] : pagesBars(results.pages)),
    ...frontierBars(results.frontier),
    ...searchBars(results.search),
    ...(results.tools === null ? [] : toolsBars(results.tools)),
    ...(results.hosted === null ? [] : hostedBars(results.hosted)),
    ...(results.beside === null ? [] : besideBars(results.beside)),
    ...consoleBars(results.console),
    ...(results.routes === null ? [] : routesBars(results.routes)),
    ...budgetsBars(results.budgets),
    ...nativeBars(results.native),
    ...(results.pauses === null ? [] : pausesBars(results.pauses)),
    ...realtimeBars(results.realtime),
    ...openLoopBars(results.openLoop),
    ...openStreamBars(results),
    ...uploadBars(results),
    ...soakBars(results),
  ];
}

interface CaseFigures {
  name: string;
  tollgate: Figures;
  nginx: Figures | undefined;
  portkey: Figures | undefined;
}

function caseBars(results: Results): Bar[] {
  return results.cases.flatMap((result) => {
    const all = figuresOf(result);
    const of = (id: string): Figures | undefined => all.find((figures) => figures.proxyId === id);
    const tollgate = of(tollgateId);
    if (tollgate === undefined) return [];
    const figures = { name: result.name, tollgate, nginx: of("nginx"), portkey: of("portkey") };
    const ofChat = result.name === "chat" ? [...chatBars(tollgate), ...postgresBars(tollgate, of(postgresId))] : [];
    return [...ratioBars(figures), ...ofChat, ...firstEventBars(figures)];
  });
}

function ratioBars({ name, tollgate, nginx, portkey }: CaseFigures): Bar[] {
  const bars: Bar[] = [];
  if (nginx !== undefined) {
    const ratio = tollgate.cpuMicroseconds / nginx.cpuMicroseconds;
    bars.push(judge(`${name}: CPU at most 5 × nginx's`, `${decimals(ratio, 1)} ×`, ratio <= 5, tollgate, nginx));
  }
  if (portkey !== undefined) {
    const ratio = portkey.cpuMicroseconds / tollgate.cpuMicroseconds;
    const promise = `${name}: CPU at least 12 × less than Portkey's`;
    bars.push(judge(promise, `${decimals(ratio, 1)} ×`, ratio >= 12, tollgate, portkey));
  }
  return bars;
}

/** Figures of a run with wrong answers are not shown: a gateway that refuses everything is fast. */
function judge(promise: string, measured: string, kept: boolean, ...from: readonly Figures[]): Bar {
  const valid = from.every((figures) => figures.problem === null);
  return { promise, measured: valid ? measured : "invalid", kept: valid && kept };
}

function chatBars(tollgate: Figures): Bar[] {
  const { p50 } = tollgate.oneCaller;
  const { oneCorePerSecond } = tollgate;
  const seen = `${count(oneCorePerSecond)} (seen: ${count(tollgate.perSecond)})`;
  const promise = "chat: at least 8,000 requests a second of one core (10⁶ / CPU µs)";
  return [
    judge("chat: added p50 below 0.5 ms at 1 caller", `${milliseconds(p50)} ms`, p50 < 0.5, tollgate),
    judge(promise, seen, oneCorePerSecond >= 8_000, tollgate),
  ];
}

function postgresBars(sqlite: Figures, postgres: Figures | undefined): Bar[] {
  if (postgres === undefined) return [];
  const share = postgres.oneCorePerSecond / sqlite.oneCorePerSecond;
  const seen = percent(postgres.perSecond / sqlite.perSecond);
  const promise = "chat: on Postgres at least 60 % of SQLite's requests a second of one core";
  return [judge(promise, `${percent(share)} % (seen: ${seen} %)`, share >= postgresShare, sqlite, postgres)];
}

/** For streams only. */
function firstEventBars({ name, tollgate }: CaseFigures): Bar[] {
  const { firstEventP99 } = tollgate.oneCaller;
  if (name !== "stream" && name !== "messages-native") return [];
  const promise = `${name}: added time to the first event p99 below 1 ms at 1 caller`;
  return [judge(promise, `${milliseconds(firstEventP99)} ms`, firstEventP99 < 1, tollgate)];
}

/** The bar for a translated call. */
function translationBars(results: Results): Bar[] {
  const of = (name: string): Figures | undefined => {
    const result = results.cases.find((candidate) => candidate.name === name);
    return result && figuresOf(result).find(({ proxyId }) => proxyId === tollgateId);
  };
  return [
    ...translatedStreamBars(of("messages-stream"), of("stream")),
    ...translatedBodyBars(of("messages-body"), of("body")),
  ];
}

function translatedStreamBars(translated: Figures | undefined, relayed: Figures | undefined): Bar[] {
  if (translated === undefined) return [];
  const { firstEventP50 } = translated.oneCaller;
  const promise = "messages-stream: added time to the first event p50 below 1 ms at 1 caller";
  const bars = [judge(promise, `${milliseconds(firstEventP50)} ms`, firstEventP50 < 1, translated)];
  if (relayed === undefined) return bars;
  const ratio = translated.cpuMicroseconds / relayed.cpuMicroseconds;
  const cost = "messages-stream: CPU at most 2 × the same stream's, relayed";
  return [judge(cost, `${decimals(ratio, 2)} ×`, ratio <= 2, translated, relayed), ...bars];
}

/** Its chunks have more bytes than a Messages stream's, and figures in each. */
function nativeBars(cases: readonly ComparedCase[]): Bar[] {
  return cases.map(comparedFiguresOf).map(({ ratio, lowest, highest, problem }) => ({
    promise: "gemini-native: CPU at most 1.1 × a Messages stream's, relayed",
    measured:
      problem === null ? `${decimals(ratio, 3)} × (${decimals(lowest, 3)} to ${decimals(highest, 3)})` : "invalid",
    kept: problem === null && ratio <= 1.1,
  }));
}

/** A relayed body of the same size is named beside it, and not judged: its text costs more to read than pictures do. */
function translatedBodyBars(translated: Figures | undefined, relayed: Figures | undefined): Bar[] {
  if (translated === undefined) return [];
  const cpuMs = translated.cpuMicroseconds / 1_000;
  const ratio = relayed === undefined ? Number.NaN : translated.cpuMicroseconds / relayed.cpuMicroseconds;
  const seen = Number.isNaN(ratio) ? "" : ` (${decimals(ratio, 2)} × \`body\`'s)`;
  return [judge("messages-body: under 10 ms of CPU", `${milliseconds(cpuMs)} ms${seen}`, cpuMs < 10, translated)];
}

function startUpBars(results: Results): Bar[] {
  const result = results.startUp.find((candidate) => candidate.proxyId === tollgateId);
  if (result === undefined) return [];
  const startMs = median(result.firstAnswerMs);
  return [
    { promise: "start-up to the first answer under 1 s", measured: `${count(startMs)} ms`, kept: startMs < 1_000 },
    {
      promise: "idle memory under 120 MB",
      measured: `${megabytes(result.idleBytes)} MB`,
      kept: result.idleBytes < 120e6,
    },
  ];
}

function openStreamBars(results: Results): Bar[] {
  const result = results.openStreams.find((candidate) => candidate.proxyId === tollgateId);
  if (result === undefined) return [];
  const measured = result.problem ?? `${megabytes(result.openBytes)} MB`;
  const kept = result.problem === null && result.openBytes < 300e6;
  return [{ promise: `${count(openStreamCount)} open streams in under 300 MB`, measured, kept }];
}

function uploadBars(results: Results): Bar[] {
  const result = results.uploads.find((candidate) => candidate.proxyId === tollgateId);
  if (result === undefined) return [];
  const bytes = uploadPeakBytesOf(result);
  const measured = result.problem ?? `${megabytes(bytes)} MB`;
  const promise = `${uploadCount} uploads of 20 MB at once in under 1.2 GB`;
  return [{ promise, measured, kept: result.problem === null && bytes < 1.2e9 }];
}

/** The growth of memory during a soak that still counts as flat: garbage collection varies that much. */
const flatShare = 0.15;

function soakBars(results: Results): Bar[] {
  if (results.soak === null) return [];
  const { problem, walBytes } = results.soak;
  const { startBytes, endBytes } = soakMemoryOf(results.soak);
  const growth = endBytes / startBytes - 1;
  const promise = `flat memory over the soak (at most ${flatShare * 100} % more at its end)`;
  const measured = problem ?? `${decimals(growth * 100, 1)} %`;
  const bars = [{ promise, measured, kept: problem === null && growth <= flatShare }];
  if (!Number.isFinite(walBytes)) return bars;
  const kept = problem === null && walBytes < walBytesMax;
  return [
    ...bars,
    { promise: "write-ahead log under 64 MB over the soak", measured: `${megabytes(walBytes)} MB`, kept },
  ];
}

export function barsTable(bars: readonly Bar[]): string {
  if (bars.length === 0) return "No bar applies to what was measured.\n";
  const rows = bars.map((bar) => [bar.promise, bar.measured, bar.kept ? "pass" : "FAIL"]);
  return `${markdownTable(["Bar", "measured", ""], rows)}\n`;
}
