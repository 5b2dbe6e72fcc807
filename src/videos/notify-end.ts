import type { JsonObject } from "../core/index.ts";
import type { StoredVideo } from "./store.ts";
import type { VideoNotifier } from "./video-dependencies.ts";
import { videoObject } from "./video-object.ts";

/** The part of webhooks that videos need. */
interface Notifications {
  check(target: { owner: string; url: string }): Promise<void>;
  schedule(event: {
    id: string;
    owner: string;
    url: string;
    type: "video.completed" | "video.failed";
    data: JsonObject;
    at: number;
  }): Promise<void>;
}

/** Notifies the address of a job of its end, with the job as its route returns it. */
export function notifierOf(
  webhooks: Notifications,
  { clock, publicUrl }: { clock: () => number; publicUrl: string },
): VideoNotifier {
  return {
    check: (url, owner) => webhooks.check({ owner, url }),
    async ended(video: StoredVideo) {
      const { id, owner, webhookUrl: url, state } = video;
      if (url === undefined) return;
      const type = state.status === "completed" ? "video.completed" : "video.failed";
      await webhooks.schedule({ id, owner, url, type, data: videoObject(video, publicUrl), at: clock() });
    },
  };
}
