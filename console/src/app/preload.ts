import { queryClient } from "../api/query-client.ts";
import { type Reach, reachOf, sessionQuery } from "../api/session.ts";
import { preload as preloadSpend } from "../pages/spend/report.ts";
import { parseSearch, type Search } from "./search-words.ts";

/** Path below `/console/` → asks for what the page shows, as far as its address says it. */
const preloads: ReadonlyMap<string, (words: Search, reach: Reach) => void> = new Map([["spend", preloadSpend]]);

const SIGN_IN = "/console/sign-in";

/** Asks for the session, but not before a sign-in, and then for the figures of the page at an address. */
export async function preloadData({ pathname, search }: Pick<Location, "pathname" | "search">): Promise<void> {
  if (pathname === SIGN_IN) return;
  const session = await queryClient.query(sessionQuery);
  if (session !== null) preloads.get(pathname.slice("/console/".length))?.(parseSearch(search), reachOf(session));
}
