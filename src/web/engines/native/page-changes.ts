/** The changes of a page since its user has read it last. */
import { abortSignalOf, type JsonObject, type Nano, parseObject } from "../../../core/index.ts";
import { type EarlierVersion, trackChanges } from "../../changes/track-changes.ts";
import type { WorkContext } from "../../engine.ts";
import type { ModelContext } from "../../model.ts";
import type { NativeDependencies } from "./native-dependencies.ts";
import { type ReadPage, type PageReading, warned } from "./reading.ts";
import { cacheKeyOf, historyKeyOf, isCacheable, type ScrapePlan } from "./scrape-plan.ts";

export interface ComparedReading {
  reading: PageReading;
  /** The page as the user has read it before, if its changes are tracked. */
  earlier: EarlierVersion | undefined;
}

export interface MadeFormats {
  made: JsonObject;
  spent: Nano;
  delivered?: () => Promise<void>;
}

/** The page as the user has read it last: of this history, or before it began, from the cache. */
export async function earlierVersion(
  { history, cache }: NativeDependencies,
  plan: ScrapePlan,
  { principal: { user } }: WorkContext,
): Promise<EarlierVersion | undefined> {
  const { changes } = plan.formats;
  if (changes === undefined || !URL.canParse(plan.url)) return undefined;
  const last = await history.last(user, historyKeyOf(plan));
  if (last !== undefined) return { markdown: last.text, readAt: last.storedAt };
  if (changes.tag !== undefined || !isCacheable(plan)) return undefined;
  const cached = await cache.get(user, cacheKeyOf(plan), Infinity);
  if (cached === undefined) return undefined;
  // Written by `keepInCache`.
  const { page } = parseObject(cached.text) as unknown as ReadPage;
  return { markdown: page.markdown ?? "", readAt: cached.storedAt };
}

interface Comparing {
  owner: string;
  signal: WorkContext["signal"];
  /** For the model's call; undefined if there shall be none. */
  asking: ModelContext | undefined;
}

/** A page that answers with an error, or with something else than itself, is compared with nothing. */
export async function changesOf(
  deps: NativeDependencies,
  plan: ScrapePlan,
  { reading, earlier }: ComparedReading,
  { owner, signal, asking }: Comparing,
): Promise<MadeFormats> {
  const { page, status } = reading;
  const { markdown = "" } = page;
  const wanted = plan.formats.changes;
  const isGone = status === 404 || status === 410;
  const isRead = status < 400 && page.doubt === undefined;
  if (wanted === undefined || !(isGone || isRead)) return { made: {}, spent: 0n };
  const { member, warning, spent } = await trackChanges(
    {
      model: deps.model,
      compare: (previous, current, wantsChunks) =>
        deps.pages.compareTexts({ previous, current, wantsChunks }, { owner, signal: abortSignalOf(signal) }),
    },
    { wanted, earlier, markdown, isGone },
    asking,
  );
  if (warning !== undefined) reading.page = warned(reading, warning).page;
  const made = { changeTracking: member };
  if (!isRead) return { made, spent };
  return { made, spent, delivered: () => deps.history.keep(owner, historyKeyOf(plan), markdown) };
}
