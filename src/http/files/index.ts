import type { Feature } from "../feature.ts";
import { listFilesRoute } from "./list-files.ts";
import { deleteFileRoute, downloadFileRoute, getFileRoute } from "./one-file.ts";
import { inPath, inQuery } from "./place.ts";
import { uploadFileRoute } from "./upload-file.ts";

export const filesFeature: Feature = {
  routes: [inQuery, inPath].flatMap((place) => [
    listFilesRoute(place),
    uploadFileRoute(place),
    getFileRoute(place),
    downloadFileRoute(place),
    deleteFileRoute(place),
  ]),
  start: ({ files }) => files,
};
