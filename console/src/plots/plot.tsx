import { lazy, Suspense } from "react";
import { Skeleton } from "../ui/states.tsx";
import type { StackedBarsProps } from "./stacked-bars.tsx";

const StackedBars = lazy(() =>
  import("./stacked-bars.tsx").then(({ StackedBars: component }) => ({ default: component })),
);

/** A plot of stacked bars, whose code is loaded when one is first shown. Beside it belongs a table with its figures. */
export function BarPlot(props: StackedBarsProps) {
  return (
    <Suspense fallback={<Skeleton className="h-64" />}>
      <StackedBars {...props} />
    </Suspense>
  );
}
