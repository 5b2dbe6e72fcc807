import { z } from "@hono/zod-openapi";
import { sharedSurface } from "../../core/index.ts";
import { platformRoute } from "../route.ts";
import { fileCall, type FilePlace, type FileServices, notFound, tag } from "./place.ts";
import { fileList, listQuery } from "./schemas.ts";

export const listFilesRoute = (place: FilePlace) =>
  platformRoute({
    contract: {
      path: place.path,
      operationId: `list${place.name}Files`,
      tag,
      summary: "The caller's own files at a provider.",
      params: z.object(place.pathParameters),
      query: z.object({ ...listQuery, ...place.queryParameters }),
      answer: fileList,
      notFound,
      relays: true,
    },
    surface: sharedSurface,
    access: "token",
    handle: (call, { files }: FileServices) => files.list(fileCall(place, call)),
  });
