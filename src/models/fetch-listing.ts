import { type Fetch, objectOf } from "../core/index.ts";
import type { UpstreamRoute } from "../routing/index.ts";
import type { ListedModel } from "../providers/index.ts";

/** How long one page of a listing may take. */
const PAGE_MS_MAX = 10_000;

/** Pages of one listing: no upstream has that many models, and a listing must end. */
const PAGES_MAX = 20;

/** Fetches all pages of a provider's listing. Rejects where any page fails. */
export async function fetchListing(fetch: Fetch, route: UpstreamRoute): Promise<readonly ListedModel[]> {
  const { models: listing } = route.provider;
  if (listing.from === "catalog") return listing.models;
  const key = route.keys.take() ?? "";
  const models: ListedModel[] = [];
  let after: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const response = await fetch(route.baseUrl + listing.path(after), {
      headers: { accept: "application/json", ...route.provider.headers(key), ...listing.headers },
      signal: AbortSignal.timeout(PAGE_MS_MAX),
      redirect: "manual",
    });
    if (!response.ok) throw new Error(`the listing answered ${response.status}`);
    const { models: found, next } = listing.parse(objectOf(await response.json()) ?? {});
    models.push(...found);
    if (next === undefined) break;
    after = next;
  }
  return models;
}
