import { lazy, Suspense, useEffect, useState } from "react";
import { Skeleton } from "../ui/states.tsx";
import type { StackedBarsProps } from "./stacked-bars.tsx";

const StackedBars = lazy(() =>
  import("./stacked-bars.tsx").then(({ StackedBars: component }) => ({ default: component })),
);

/** Whether the browser has painted what is in the document now. */
function usePainted(): boolean {
  const [isPainted, setPainted] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    // A frame's callbacks run before it is painted, a timer after it.
    const frame = requestAnimationFrame(() => {
      timer = setTimeout(() => setPainted(true));
    });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, []);
  return isPainted;
}

/**
 * A plot of stacked bars. Its code is loaded when one is first shown, behind the figures around it. Beside it belongs a table with its
 * figures.
 */
export function BarPlot(props: StackedBarsProps) {
  const place = <Skeleton className="h-64" />;
  return usePainted() ? (
    <Suspense fallback={place}>
      <StackedBars {...props} />
    </Suspense>
  ) : (
    place
  );
}
