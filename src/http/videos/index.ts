import type { Feature } from "../feature.ts";
import { createVideoRoute, editVideoRoute, extendVideoRoute, generateVideoRoute } from "./create.ts";
import { deleteVideoRoute, downloadVideoRoute, getVideoRoute, listVideosRoute } from "./lookups.ts";
import { createTaskRoute, deleteTaskRoute, getTaskRoute, listTasksRoute } from "./tasks.ts";

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
    listTasksRoute,
    createTaskRoute,
    getTaskRoute,
    deleteTaskRoute,
  ],
};
