export { notifierOf } from "./notify-end.ts";
export { openVideoStore } from "./sql/open.ts";
export type { StoredVideo } from "./store.ts";
export { VIDEO_JOB } from "./video-dependencies.ts";
export { VideoJobs } from "./video-jobs.ts";
export { videoChangeRequest, videoRequest } from "./video-request.ts";
