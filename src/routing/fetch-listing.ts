import { type Fetch, type JsonObject, parseObject } from "../core/index.ts";
import type { ListedModel } from "../providers/index.ts";
import type { Key } from "./key-pool.ts";
import type { UpstreamRoute } from "./router.ts";
import { readBounded } from "../streaming/index.ts";

/** How long one page of a listing may take. */
const PAGE_MS_MAX = 10_000;

/** The maximum number of pages of a listing. No upstream has that many models; it keeps a listing from never ending. */
const PAGES_MAX = 20;

/** Bytes of one page. The longest real listings stay under one megabyte. */
const PAGE_BYTES_MAX = 16 * 1024 * 1024;

/** Fetches all pages of a provider's listing, and adds the models that it omits. Rejects if any page fails; a refused or limited key cools down. */
export async function fetchListing(fetch: Fetch, route: UpstreamRoute): Promise<readonly ListedModel[]> {
  const { models: listing } = route.provider;
  if (listing.from === "catalog") return listing.models;
  const key = route.keys.acquire();
  if (key === undefined && route.keys.ids.length > 0) throw new Error("all keys are refused");
  const models: ListedModel[] = [];
  let after: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const path = listing.path(after);
    const response = await fetch(route.baseUrl + path, {
      headers: { accept: "application/json", ...route.provider.headers(key?.secret ?? "", path), ...listing.headers },
      signal: AbortSignal.timeout(PAGE_MS_MAX),
      redirect: "manual",
    });
    if (!response.ok) {
      if (key !== undefined) coolDown(route, key, response.status);
      await response.body?.cancel();
      throw new Error(`the listing answered ${response.status}`);
    }
    const { models: found, next } = listing.parse(await readPage(response));
    models.push(...found);
    if (next === undefined) break;
    after = next;
  }
  const known = new Set(models.map(({ id }) => id));
  return [...models, ...(listing.unlisted ?? []).filter(({ id }) => !known.has(id))];
}

function coolDown({ keys }: UpstreamRoute, key: Key, status: number): void {
  if (status === 401) keys.coolDown(key, "refused", undefined);
  if (status === 429) keys.coolDown(key, "limited", undefined);
}

async function readPage({ body }: Response): Promise<JsonObject> {
  const read = body === null ? undefined : await readBounded(body, PAGE_BYTES_MAX);
  if (read !== undefined && "exceeded" in read) throw new Error(`the listing is longer than ${PAGE_BYTES_MAX} bytes`);
  const page = read && parseObject(Buffer.from(read.bytes).toString("utf8"));
  if (page === undefined) throw new Error("the listing is no JSON object");
  return page;
}
