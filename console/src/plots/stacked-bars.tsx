import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import { type Decimal, numberOf, sum } from "../money/decimal.ts";
import { colorOf, useThemeVersion } from "./colors.ts";
import { PlotTip, type TipRow } from "./plot-tip.tsx";

/** One part of each bar. */
export interface Series {
  name: string;
  /** 1 to 8, or `other`. */
  color: number | "other";
  /** One for each bar. */
  values: readonly Decimal[];
}

export interface StackedBarsProps {
  /** The names of the bars. */
  labels: readonly string[];
  series: readonly Series[];
  /** How a value is written beside the axis and in the tip. */
  format: (value: Decimal) => string;
  formatAxis: (value: number) => string;
  /** Read out in place of the picture. */
  description: string;
}

const HEIGHT = 256;

export function StackedBars(props: StackedBarsProps) {
  const { labels, series, format, description } = props;
  const box = useRef<HTMLDivElement>(null);
  const [bar, setBar] = useState<{ index: number; left: number }>();
  const theme = useThemeVersion();
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const plot = new uPlot(optionsOf(element, props, setBar), dataOf(props), element);
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
    // The props are new objects at each render, and equal ones make an equal picture.
  }, [theme, keyOf(props)]);
  const rows: TipRow[] = bar === undefined ? [] : rowsAt(series, bar.index, format);
  return (
    <div className="relative">
      <div ref={box} role="img" aria-label={description} className="h-64 w-full overflow-hidden" />
      {bar !== undefined && <PlotTip left={bar.left} title={labels[bar.index] ?? ""} rows={rows} />}
    </div>
  );
}

const keyOf = ({ labels, series }: StackedBarsProps): string =>
  JSON.stringify([labels, series.map(({ name, color, values }) => [name, color, values.map(numberOf)])]);

function rowsAt(series: readonly Series[], index: number, format: (value: Decimal) => string): TipRow[] {
  const rows = series.flatMap(({ name, color, values }) => {
    const value = values[index];
    return value === undefined || value.units === 0n ? [] : [{ name, color, text: format(value) }];
  });
  const total = sum(series.flatMap(({ values }) => values[index] ?? []));
  return series.length > 1 ? [...rows, { name: "Total", color: undefined, text: format(total) }] : rows;
}

/** uPlot draws the series over each other: the first one has the sum of all of them. */
function dataOf({ labels, series }: StackedBarsProps): uPlot.AlignedData {
  const stacked = series.map((_, index) =>
    labels.map((__, bar) => numberOf(sum(series.slice(index).flatMap(({ values }) => values[bar] ?? [])))),
  );
  return [labels.map((_, bar) => bar), ...stacked];
}

function optionsOf(
  element: HTMLElement,
  { labels, series, formatAxis }: StackedBarsProps,
  setBar: (bar: { index: number; left: number } | undefined) => void,
): uPlot.Options {
  const ink = colorOf(element, "--color-muted");
  const line = colorOf(element, "--color-line");
  const font = `12px ${getComputedStyle(element).fontFamily}`;
  const bars = uPlot.paths.bars?.({ size: [0.72, 48], radius: [0.15, 0] });
  return {
    width: element.clientWidth,
    height: HEIGHT,
    padding: [12, 4, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: [-0.5, Math.max(0, labels.length - 1) + 0.5] },
      y: { range: (_, __, max) => [0, max > 0 ? max * 1.08 : 1] },
    },
    axes: [
      {
        stroke: ink,
        font,
        size: 24,
        grid: { show: false },
        ticks: { show: false },
        splits: () => placesOf(labels.length, element.clientWidth),
        values: (_, places) => places.map((place) => labels[place] ?? ""),
      },
      {
        stroke: ink,
        font,
        size: widthOf,
        grid: { stroke: line, width: 1 },
        ticks: { show: false },
        values: (_, values) => values.map(formatAxis),
      },
    ],
    series: [
      {},
      ...series.map(({ name, color }) => ({
        label: name,
        fill: colorOf(element, `--color-series-${color}`),
        width: 0,
        ...(bars !== undefined && { paths: bars }),
        points: { show: false },
      })),
    ],
    hooks: {
      setCursor: [
        ({ cursor: { idx, left } }) =>
          setBar(typeof idx === "number" && left !== undefined && left >= 0 ? { index: idx, left } : undefined),
      ],
    },
  };
}

/** Of the numbers beside the axis, with the gap that uPlot leaves. */
function widthOf({ ctx }: uPlot, values: readonly string[] | null): number {
  const widths = (values ?? []).map((value) => ctx.measureText(value).width / devicePixelRatio);
  return Math.max(AXIS_WIDTH, ...widths.map((width) => Math.ceil(width) + 14));
}

const AXIS_WIDTH = 52;

/** The bars whose names are written: as many as there is room for. */
function placesOf(bars: number, width: number): number[] {
  const step = Math.max(1, Math.ceil((bars * 72) / Math.max(1, width - AXIS_WIDTH)));
  return Array.from({ length: Math.ceil(bars / step) }, (_, index) => index * step);
}
