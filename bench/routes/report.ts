import type { Bar } from "../report/bar.ts";
import { comparedFiguresOf } from "../report/comparison.ts";
import { count, decimals, markdownTable, megabytes, milliseconds } from "../report/format.ts";
import { median } from "../report/median.ts";
import { flappingRate, type RoutesFigures, type RoutesRound } from "./measure.ts";

const cpuTimesMax = 1.02;
const refusedMsMax = 0.5;
const firstEventMsMax = 1;
const flappingMsMax = 5;
/** Garbage collection varies that much. */
const flatShare = 0.15;

/** What a first target that fails adds to the median call, in the median round. */
function addedBy(rounds: readonly RoutesRound[], name: "busy" | "unreachable"): number {
  return median(rounds.map((round) => round[name].p50 - round.alone.p50));
}

/** Of a stream that waits in the gateway, over the same gateway's stream that does not. */
function heldFirstEvent(rounds: readonly RoutesRound[]): number {
  return median(rounds.map(({ held, passed }) => held.firstEventP99 - passed.firstEventP99));
}

function cpuTimes({ comparison }: RoutesFigures): number {
  const [chat] = comparison.map(comparedFiguresOf);
  return chat?.ratio ?? Number.NaN;
}

export function routesTable(figures: RoutesFigures): string {
  const { rounds, healthy, flapping, startBytes, endBytes, problem } = figures;
  const rows = [
    ["CPU of a chat call without a route, times that of a gateway without routes", decimals(cpuTimes(figures), 3)],
    ["a first target that answers 503, added p50, ms", milliseconds(addedBy(rounds, "busy"))],
    ["a first target that refuses the connection, added p50, ms", milliseconds(addedBy(rounds, "unreachable"))],
    [
      "a stream held until its content: added to the first event of one that is not, p99, ms",
      milliseconds(heldFirstEvent(rounds)),
    ],
    ["healthy target at fixed times, p50; p99, ms", `${milliseconds(healthy.p50)}; ${milliseconds(healthy.p99)}`],
    [
      "with a primary that works every other second, p50; p99, ms",
      `${milliseconds(flapping.p50)}; ${milliseconds(flapping.p99)}`,
    ],
    ["memory meanwhile: second fifth, last fifth, MB", `${megabytes(startBytes)}, ${megabytes(endBytes)}`],
    ["problems", problem ?? "none"],
  ];
  return `${markdownTable(["Routes", "Tollgate (SQLite)"], rows)}\n`;
}

export function routesBars(figures: RoutesFigures): Bar[] {
  const { rounds, healthy, flapping, startBytes, endBytes, problem } = figures;
  const bar = (promise: string, measured: string, kept: boolean): Bar => ({
    promise: `routes: ${promise}`,
    measured: problem === null ? measured : "invalid",
    kept: problem === null && kept,
  });
  const times = cpuTimes(figures);
  const held = heldFirstEvent(rounds);
  const above = flapping.p99 - healthy.p99;
  const growth = endBytes / startBytes - 1;
  const refused = (["busy", "unreachable"] as const).map((name) => {
    const added = addedBy(rounds, name);
    const promise = `a first target that is ${name} adds less than 0.5 ms to the p50`;
    return bar(promise, `${milliseconds(added)} ms`, added < refusedMsMax);
  });
  return [
    bar("chat without a route at most 1.02 × the CPU", `${decimals(times, 3)} ×`, times <= cpuTimesMax),
    ...refused,
    bar("a held stream's first event p99 below 1 ms more", `${milliseconds(held)} ms`, held < firstEventMsMax),
    bar(
      `a flapping primary at ${count(flappingRate)} calls a second: p99 at most 5 ms above the healthy target's`,
      `${milliseconds(above)} ms`,
      above <= flappingMsMax,
    ),
    bar("flat memory meanwhile", `${decimals(growth * 100, 1)} %`, growth <= flatShare),
  ];
}
