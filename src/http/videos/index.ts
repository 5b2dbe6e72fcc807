import type { Feature } from "../feature.ts";
import { createVideoRoute, editVideoRoute, extendVideoRoute, generateVideoRoute } from "./create.ts";
import { deleteVideoRoute, downloadVideoRoute, getVideoRoute, listVideosRoute } from "./lookups.ts";

export const videosFeature: Feature = {
  routes: [
    listVideosRoute,
    createVideoRoute,
    generateVideoRoute,
    editVideoRoute,
    extendVideoRoute,
    getVideoRoute,
    deleteVideoRoute,
    downloadVideoRoute,
  ],
};
