/** Video jobs as in their provider's own API, for its clients. They are the same jobs as at `/v1/videos`. */
import type { Principal } from "../auth/index.ts";
import { GatewayError, isStorableId } from "../core/index.ts";
import { jobsOf } from "./ask-api.ts";
import { isEnded, refreshVideo } from "./follow-video.ts";
import { videoRoute } from "./lookups.ts";
import type { StoredVideo } from "./store.ts";
import type { VideoDependencies } from "./video-dependencies.ts";

/** The newest jobs of a user among which a page is looked for, and the jobs that are asked for by their ids. */
const LISTED_MAX = 500;

/** The jobs of a page that are brought up to date, at most. */
const REFRESHED_MAX = 16;

/** A page by its number, from one on. */
export interface OwnVideoPage {
  principal: Principal;
  provider: string;
  number: number;
  size: number;
  /** The provider's name of the status of the jobs; undefined for all. */
  status: string | undefined;
  /** The provider's ids of the jobs, at most 500; empty for the newest 500. */
  ids: readonly string[];
}

/** Whether the jobs of a provider have a shape of their own at this path of its API. */
export function hasOwnShape({ router }: VideoDependencies, prefix: string, path: string): boolean {
  const api = router.withPrefix(prefix)?.provider.videos;
  return api?.ownShape !== undefined && api.path === path;
}

/** The caller's own jobs, the newest first, with the number of those that fit. Throws 422 for too many ids. */
export async function listOwnVideos(deps: VideoDependencies, page: OwnVideoPage): Promise<Response> {
  const { principal, provider, number, size, status, ids } = page;
  if (ids.length > LISTED_MAX) {
    const param = "filter.task_ids";
    throw new GatewayError("validation_failed", `${param}: at most ${LISTED_MAX} are looked up.`, { param });
  }
  const route = videoRoute(deps.router.routes, provider);
  const shape = jobsOf(route).api.ownShape;
  const shown = ({ answer, state, videoId = "" }: StoredVideo) => shape?.job(answer, state, videoId) ?? answer;
  const owned = { owner: principal.service ? undefined : principal.user, provider: route.prefix };
  const found =
    ids.length === 0
      ? await deps.videos.list({ ...owned, isAscending: false, limit: LISTED_MAX, after: undefined })
      : await deps.videos.listNamed(owned, ids.filter(isStorableId));
  const fitting = found.filter((video) => status === undefined || shown(video)["status"] === status);
  const items = fitting.slice((number - 1) * size, number * size);
  const open = items.filter(({ state }) => !isEnded(state)).slice(0, REFRESHED_MAX);
  const seen = new Map(
    (await Promise.all(open.map((video) => refreshVideo(deps, video)))).map((each) => [each.id, each]),
  );
  return Response.json({ total: fitting.length, items: items.map((video) => shown(seen.get(video.id) ?? video)) });
}
