import { seriesFill } from "./colors.ts";

export interface TipRow {
  name: string;
  /** Undefined of a sum. */
  color: number | "other" | undefined;
  text: string;
}

interface PlotTipProps {
  /** Of the bar, within the area of the plot. */
  left: number;
  title: string;
  rows: readonly TipRow[];
}

/** The figures of the bar under the pointer. The table has them too. */
export function PlotTip({ left, title, rows }: PlotTipProps) {
  return (
    <div
      aria-hidden="true"
      style={{ left: `clamp(0px, ${Math.round(left)}px, calc(100% - 15rem))` }}
      className="popup pointer-events-none absolute top-2 z-10 ml-13 w-56 p-3 text-xs"
    >
      <p className="mb-1.5 font-medium">{title}</p>
      {rows.length === 0 && <p className="text-muted">Nothing</p>}
      {rows.map(({ name, color, text }) => (
        <p key={name} className="flex items-center gap-2 py-0.5">
          {color !== undefined && <span className={`size-2 shrink-0 rounded-sm ${seriesFill[color]}`} />}
          <span className={`flex-1 truncate ${color === undefined ? "font-medium" : "text-soft"}`}>{name}</span>
          <span className="figures">{text}</span>
        </p>
      ))}
    </div>
  );
}
