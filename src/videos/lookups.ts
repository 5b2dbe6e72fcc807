/** Looks up, lists and downloads the jobs of a caller. All of it is free. */
import type { Principal } from "../auth/index.ts";
import { formatCredits, GatewayError, isStorableId } from "../core/index.ts";
import type { UpstreamRoute } from "../routing/index.ts";
import { downloadUpstream } from "../sending/index.ts";
import { jobsOf } from "./ask-api.ts";
import { isEnded, refreshVideo } from "./follow-video.ts";
import type { StoredVideo, VideoList } from "./store.ts";
import type { VideoDependencies } from "./video-dependencies.ts";
import { videoObject } from "./video-object.ts";

/** The jobs of a list that are brought up to date, at most, and how many at the same time. */
const REFRESHED_MAX = 16;

/** A request about one job. */
export interface VideoLookup {
  principal: Principal;
  request: Request;
  /** The upstream's id. */
  videoId: string;
  /** The prefix of the provider, if the caller names one. */
  provider: string | undefined;
  /** Whether the answer has the shape of the provider's own API. */
  isOwn?: boolean;
}

/** `GET /v1/videos/{video_id}`: the job as it is now. Throws 404 if the caller has no such job. */
export async function getVideo(deps: VideoDependencies, lookup: VideoLookup): Promise<Response> {
  const video = await refreshVideo(deps, await ownVideo(deps, lookup));
  return (lookup.isOwn === true ? ownAnswer(deps, video) : undefined) ?? answer(deps, video);
}

/** The record of the caller's own job, as it was seen last. */
export async function ownVideo(
  { videos, router }: Pick<VideoDependencies, "videos" | "router">,
  { principal, videoId, provider }: VideoLookup,
): Promise<StoredVideo> {
  const prefix = provider === undefined ? undefined : videoRoute(router.routes, provider).prefix;
  const all = isStorableId(videoId) ? await videos.findByVideoId(videoId) : [];
  const own = all.filter(({ owner }) => principal.service || owner === principal.user);
  const found = own.filter((each) => prefix === undefined || each.provider === prefix);
  // Two providers may have used the same id: it is taken for the kind that makes such ids.
  const api = (each: StoredVideo) => router.routes.find((route) => route.prefix === each.provider)?.provider.videos;
  const video = found.find((each) => api(each)?.isOwnId(videoId)) ?? found[0];
  if (video === undefined) throw new GatewayError("video_not_found", "There is no video job of yours with this id.");
  return video;
}

/** The route with this prefix or alias. Throws 422 if no provider has it. */
export function videoRoute(routes: readonly UpstreamRoute[], name: string): UpstreamRoute {
  const route = routes.find(({ prefix, aliases }) => prefix === name || aliases.includes(name));
  if (route !== undefined && route.provider.videos !== undefined) return route;
  const names = routes.filter(({ provider }) => provider.videos !== undefined).map(({ prefix }) => prefix);
  throw new GatewayError("validation_failed", `provider: must be one of ${names.join(", ")}.`, { param: "provider" });
}

/** In the shape of its provider's own API; undefined if that has none. */
function ownAnswer(deps: VideoDependencies, video: StoredVideo): Response | undefined {
  const shape = jobsOf(routeOf(deps, video)).api.ownShape;
  if (shape === undefined) return undefined;
  const { answer: seen, state, videoId = "" } = video;
  return Response.json(shape.job(seen, state, videoId), {
    status: shape.status(state),
    headers: headersOf(deps, video),
  });
}

function answer(deps: VideoDependencies, video: StoredVideo): Response {
  return Response.json(videoObject(video, deps.publicUrl), { headers: headersOf(deps, video) });
}

/** The headers of an answer about one job. */
export function headersOf(
  { router }: VideoDependencies,
  { id, provider, credits }: Pick<StoredVideo, "id" | "provider" | "credits">,
): Record<string, string> {
  const sandbox = router.routes.find(({ prefix }) => prefix === provider)?.sandbox ?? false;
  return {
    ...(sandbox && { "x-tollgate-sandbox": "true" }),
    ...(credits !== undefined && { "x-tollgate-credits": formatCredits(credits) }),
    "x-tollgate-generation-id": id,
  };
}

/** A page of the caller's own jobs. */
export interface VideoPage {
  principal: Principal;
  provider: string | undefined;
  limit: number;
  order: "asc" | "desc";
  /** The upstream's id of the job before the page. */
  after: string | undefined;
}

/** `GET /v1/videos`, in OpenAI's list format with cursors. Jobs that have not ended are brought up to date. */
export async function listVideos(deps: VideoDependencies, page: VideoPage): Promise<Response> {
  const { videos, router, publicUrl } = deps;
  const { principal, limit, order } = page;
  const route = page.provider === undefined ? firstVideoRoute(router.routes) : videoRoute(router.routes, page.provider);
  const list: VideoList = {
    owner: principal.service ? undefined : principal.user,
    provider: route.prefix,
    isAscending: order === "asc",
    limit: limit + 1,
    after: page.after === undefined ? undefined : await cursorOf(deps, page, route.prefix),
  };
  const found = await videos.list(list);
  const shown = found.slice(0, limit);
  const open = shown.filter(({ state }) => !isEnded(state)).slice(0, REFRESHED_MAX);
  const seen = new Map(
    (await Promise.all(open.map((video) => refreshVideo(deps, video)))).map((each) => [each.id, each]),
  );
  const data = shown.map((video) => videoObject(seen.get(video.id) ?? video, publicUrl));
  return Response.json({
    object: "list",
    data,
    first_id: data[0]?.["id"] ?? null,
    last_id: data.at(-1)?.["id"] ?? null,
    has_more: found.length > limit,
  });
}

/** OpenAI's kind, else the first that makes videos. */
function firstVideoRoute(routes: readonly UpstreamRoute[]): UpstreamRoute {
  const all = routes.filter(({ provider }) => provider.videos !== undefined);
  const route = all.find(({ provider }) => provider.videos?.hasContent === true) ?? all[0];
  if (route !== undefined) return route;
  throw new GatewayError("unsupported_operation", "No provider here makes videos.");
}

async function cursorOf(
  { videos }: VideoDependencies,
  { principal, after = "" }: VideoPage,
  provider: string,
): Promise<StoredVideo> {
  const found = isStorableId(after) ? await videos.findByVideoId(after) : [];
  const own = found.find((each) => each.provider === provider && (principal.service || each.owner === principal.user));
  if (own !== undefined) return own;
  throw new GatewayError("validation_failed", "after: there is no such video.", { param: "after" });
}

export function routeOf({ router }: VideoDependencies, { provider }: StoredVideo): UpstreamRoute {
  const route = router.routes.find(({ prefix }) => prefix === provider);
  if (route !== undefined && route.requiredVariable === undefined) return route;
  throw new GatewayError("provider_without_key", `The provider ${provider} has no key here any more.`);
}

/**
 * `GET /v1/videos/{video_id}/content`: the video's bytes, or those of the requested variant, as they arrive. Throws 404
 * if the provider gives addresses instead.
 */
export async function downloadVideo(deps: VideoDependencies, lookup: VideoLookup): Promise<Response> {
  const video = await ownVideo(deps, lookup);
  const { target, api } = jobsOf(routeOf(deps, video));
  if (!api.hasContent) {
    const message = `The provider ${video.provider} serves no content: download the video from output[].url of the job.`;
    throw new GatewayError("unsupported_operation", message);
  }
  const variant = new URL(lookup.request.url).searchParams.get("variant");
  const query = variant === null ? "" : `?variant=${encodeURIComponent(variant)}`;
  const { route, operation } = target;
  return downloadUpstream(deps, lookup.request, {
    target: { route, operation: { ...operation, forwardedHeaders: ["range", "if-range"] } },
    method: "GET",
    subpath: `/${encodeURIComponent(lookup.videoId)}/content${query}`,
    pinnedKeyId: video.keyId,
  });
}
