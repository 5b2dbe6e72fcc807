import { useEffect, useState } from "react";

/** A colour of the style sheet as it is in the theme that is shown, for a canvas. */
export function colorOf(element: HTMLElement, name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Changes with the theme, so that canvases are drawn again. */
export function useThemeVersion(): number {
  const [version, setVersion] = useState(0);
  useEffect(() => {
    const next = () => setVersion((before) => before + 1);
    const system = matchMedia("(prefers-color-scheme: dark)");
    const observer = new MutationObserver(next);
    system.addEventListener("change", next);
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      system.removeEventListener("change", next);
      observer.disconnect();
    };
  }, []);
  return version;
}

/** The class that fills a sample of a series' colour. */
export const seriesFill: Readonly<Record<number | "other", string>> = {
  1: "bg-series-1",
  2: "bg-series-2",
  3: "bg-series-3",
  4: "bg-series-4",
  5: "bg-series-5",
  6: "bg-series-6",
  7: "bg-series-7",
  8: "bg-series-8",
  other: "bg-series-other",
};
