import type { ParkedWork } from "../charges/index.ts";
import type { JsonObject } from "../core/index.ts";
import { setTarget } from "../sending/index.ts";
import type { StoredVideo } from "./store.ts";

/**
 * The answer to the creation of a job whose record has the upstream's first answer; `parked` is its work then. `isOwn`: in the
 * shape of the provider's own API.
 */
export function createdAnswer(
  video: StoredVideo,
  { source, asked }: Pick<ParkedWork, "source" | "asked">,
  publicUrl: string,
  isOwn: boolean,
) {
  const created = isOwn
    ? video.answer
    : videoObject({ ...video, state: { ...video.state, status: "queued" } }, publicUrl);
  const headers: Record<string, string> = { "content-type": "application/json" };
  const failed = asked?.attempts?.filter(({ class: name }) => name !== undefined) ?? [];
  setTarget(headers, source, failed.length + 1);
  return { status: 200, headers: Object.entries(headers), body: Buffer.from(JSON.stringify(created)) };
}

/**
 * A job as the client sees it: the upstream's own members, and over them those of OpenAI's object. All members exist,
 * those without a value are null. A video without an address of its own is at the gateway's.
 */
export function videoObject(video: StoredVideo, publicUrl: string): JsonObject {
  const { videoId = "", model, answer, state, sourceId, requested, createdAt } = video;
  const { status, progress, urls, error } = state;
  const { size, prompt, remixed_from_video_id: remixed } = answer;
  const seconds = state.seconds ?? requested.seconds;
  const isEnded = status === "completed" || status === "failed";
  return {
    ...answer,
    id: videoId,
    object: "video",
    status,
    model,
    progress: status === "completed" ? 100 : (progress ?? 0),
    created_at: state.createdAt ?? Math.floor(createdAt / 1_000),
    completed_at: isEnded ? (state.completedAt ?? null) : null,
    expires_at: state.expiresAt ?? null,
    prompt: typeof prompt === "string" ? prompt : null,
    seconds: seconds === undefined ? null : String(seconds),
    size: state.size ?? (typeof size === "string" ? size : (requested.size ?? null)),
    remixed_from_video_id: typeof remixed === "string" ? remixed : (sourceId ?? null),
    error: error ?? null,
    ...(status === "completed" && {
      output: (urls.length > 0 ? urls : [`${publicUrl}/v1/videos/${encodeURIComponent(videoId)}/content`]).map(
        (url) => ({
          type: "video",
          url,
        }),
      ),
    }),
  };
}
