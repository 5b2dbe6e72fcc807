import type { Bar } from "../report/bar.ts";
import { count, decimals, markdownTable, microseconds, milliseconds } from "../report/format.ts";
import { directId, type RealtimeColumn } from "./measure.ts";
import { burst, messageBytes, messagesPerSecond, sessions } from "./protocol.ts";

const addedP50MsMax = 0.8;
const addedP99MsMax = 3;
const cpuTimesMax = 4;
const sessionBytesMax = 100_000;

const title = `${sessions} realtime sessions, ${count(messagesPerSecond)} messages a second of ${messageBytes} bytes in bursts of ${burst}`;

/** The direct column has no proxy. */
function ofProxy(show: (column: RealtimeColumn) => string): (column: RealtimeColumn) => string {
  return (column) => (column.proxyId === directId ? "–" : show(column));
}

export function realtimeTable(columns: readonly RealtimeColumn[], labelOf: (id: string) => string): string {
  const floor = columns.find(({ proxyId }) => proxyId === "nginx")?.cpuMicroseconds ?? Number.NaN;
  const row = (name: string, show: (column: RealtimeColumn) => string): string[] => [name, ...columns.map(show)];
  const rows = [
    row("added p50, ms", ({ p50 }) => milliseconds(p50)),
    row("added p99, ms", ({ p99 }) => milliseconds(p99)),
    row("added p99.9, ms", ({ p999 }) => milliseconds(p999)),
    row(
      "CPU µs a message",
      ofProxy(({ cpuMicroseconds }) => microseconds(cpuMicroseconds)),
    ),
    row(
      "… times nginx's",
      ofProxy(({ cpuMicroseconds }) => decimals(cpuMicroseconds / floor, 1)),
    ),
    row(
      "memory a session, least and most under load, KB",
      ofProxy(
        ({ bytesPerSession, mostBytesPerSession }) =>
          `${count(bytesPerSession / 1_000)}, ${count(mostBytesPerSession / 1_000)}`,
      ),
    ),
    row("problems", ({ problem }) => problem ?? "none"),
  ];
  return `${markdownTable([title, ...columns.map(({ proxyId }) => labelOf(proxyId))], rows)}\n`;
}

export function realtimeBars(columns: readonly RealtimeColumn[]): Bar[] {
  const of = (id: string): RealtimeColumn | undefined => columns.find(({ proxyId }) => proxyId === id);
  const tollgate = of("tollgate");
  const nginx = of("nginx");
  if (tollgate === undefined) return [];
  const isValid = columns.every(({ problem }) => problem === null);
  const bar = (promise: string, measured: string, kept: boolean): Bar => ({
    promise: `realtime: ${promise}`,
    measured: isValid ? measured : "invalid",
    kept: isValid && kept,
  });
  const { p50, p99, cpuMicroseconds, bytesPerSession } = tollgate;
  const ratio = cpuMicroseconds / (nginx?.cpuMicroseconds ?? Number.NaN);
  return [
    bar("added p50 at most 0.8 ms", `${milliseconds(p50)} ms`, p50 <= addedP50MsMax),
    bar("added p99 at most 3 ms", `${milliseconds(p99)} ms`, p99 <= addedP99MsMax),
    ...(nginx === undefined ? [] : [bar("CPU at most 4 × nginx's", `${decimals(ratio, 1)} ×`, ratio <= cpuTimesMax)]),
    bar(
      "at most 100 KB a session after a collection under load",
      `${count(bytesPerSession / 1_000)} KB`,
      bytesPerSession <= sessionBytesMax,
    ),
  ];
}
