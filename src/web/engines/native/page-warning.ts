import type { Page, PageDoubt } from "../../../pages/index.ts";

/** How a page was read. */
interface Reading {
  isRendered: boolean;
  onlyMainContent: boolean;
  hasSelectors: boolean;
}

/** The warning about a page whose text may not be what was asked for: with what was seen, and what to try. */
export function warningOf({ warning, doubt }: Pick<Page, "warning" | "doubt">, reading: Reading): string | undefined {
  // The warning of a page that scripts make has the reason for its lack of text.
  if (doubt === undefined || (warning !== undefined && doubt !== "challenge")) return warning;
  const own = texts[doubt](reading);
  return warning === undefined ? own : `${own} ${warning}`;
}

/** Beside the page's own warning. */
export const COUNTRY_IGNORED = "location.country changed nothing: pages are read from the gateway's own address.";

const texts: Readonly<Record<PageDoubt, (reading: Reading) => string>> = {
  challenge: () =>
    "The site answered with a check for robots instead of the page. It may let the page pass later, or with the headers of a session.",
  unfilled: ({ isRendered }) =>
    `The page was read before its scripts had filled it. ${isRendered ? "A longer waitFor may help." : "Try waitFor, which reads it in a browser."}`,
  empty: (reading) => `The page has no text. ${advice(reading)}`.trim(),
};

function advice({ isRendered, onlyMainContent, hasSelectors }: Reading): string {
  if (hasSelectors) return "Try other includeTags.";
  const tries = [
    ...(onlyMainContent ? ["onlyMainContent: false"] : []),
    ...(isRendered ? [] : ["waitFor, which reads it in a browser"]),
  ];
  return tries.length === 0 ? "" : `Try ${tries.join(", or ")}.`;
}
