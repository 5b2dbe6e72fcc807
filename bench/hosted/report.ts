import type { Bar } from "../report/bar.ts";
import { decimals, markdownTable } from "../report/format.ts";
import type { HostedFigures } from "./measure.ts";

const roundMsMax = 3;
const cpuRatioMax = 2;
const firstMsMax = 1;

export function hostedTable({ rounds, addedFirstMs, problem }: HostedFigures): string {
  const rows = rounds.map(({ title, addedMs, cpu, plainMs, plainCpu }) => [
    title,
    figures(addedMs, cpu),
    figures(plainMs, plainCpu),
  ]);
  const first = [
    "first content of the last round, after that of a chat call's stream",
    `${decimals(addedFirstMs, 2)} ms`,
    "",
  ];
  const head = ["Tools that the gateway runs", "a round: p50 beyond the model; CPU", "a plain call of the same API"];
  return `${markdownTable(head, [...rows, first])}${problem === null ? "" : `\n${problem}\n`}\n`;
}

function figures(ms: number, cpu: number): string {
  return `${decimals(ms, 2)} ms; ${decimals(cpu, 0)} µs`;
}

export function hostedBars({ rounds, addedFirstMs, problem }: HostedFigures): Bar[] {
  const bar = (promise: string, measured: string, isKept: boolean): Bar => ({
    promise,
    measured: problem ?? measured,
    kept: problem === null && isKept,
  });
  const ofRounds = rounds.flatMap(({ title, addedMs, cpu, plainCpu }) => [
    bar(
      `a round takes less than ${roundMsMax} ms beyond its model: ${title}`,
      `${decimals(addedMs, 2)} ms`,
      addedMs < roundMsMax,
    ),
    bar(
      `a round takes less than ${cpuRatioMax} × a plain call's CPU: ${title}`,
      `${decimals(cpu / plainCpu, 1)} ×`,
      cpu < cpuRatioMax * plainCpu,
    ),
  ]);
  const first = `the last round's first content is less than ${firstMsMax} ms later than that of a chat call's stream`;
  return [...ofRounds, bar(first, `${decimals(addedFirstMs, 2)} ms`, addedFirstMs < firstMsMax)];
}
