import { z } from "@hono/zod-openapi";
import { sharedSurface } from "../../core/index.ts";
import { proxiedRoute } from "../route.ts";
import { fileCall, type FilePlace, type FileServices, tag } from "./place.ts";

/** The routes of the new file. */
function linksOf({ name, pathParameters }: FilePlace) {
  const provider = pathParameters.provider === undefined ? {} : { provider: "$request.path.provider" };
  const parameters = { ...provider, file_id: "$response.body#/id" };
  return {
    file: { operationId: `get${name}File`, parameters },
    content: { operationId: `download${name}File`, parameters },
    deletion: { operationId: `delete${name}File`, parameters },
  };
}

export const uploadFileRoute = (place: FilePlace) =>
  proxiedRoute({
    contract: {
      path: place.path,
      operationId: `create${place.name}File`,
      tag,
      summary: "Uploads a file to a provider.",
      params: z.object(place.pathParameters),
      query: z.object(place.queryParameters),
      form: place.form,
      streams: false,
      retryKey: false,
      links: linksOf(place),
      forbidden: "The caller's quota of files is used up.",
    },
    surface: sharedSurface,
    handle: (call, { files }: FileServices) => files.upload(fileCall(place, call)),
  });
