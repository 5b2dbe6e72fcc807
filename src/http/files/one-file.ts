import { sharedSurface } from "../../core/index.ts";
import { platformRoute } from "../route.ts";
import { file } from "../contract.ts";
import { type FilePlace, type FileServices, notFound, oneFileCall, oneFileParameters, tag } from "./place.ts";
import { deletedFile, fileObject } from "./schemas.ts";

export const getFileRoute = (place: FilePlace) =>
  platformRoute({
    contract: {
      path: `${place.path}/{file_id}`,
      operationId: `get${place.name}File`,
      tag,
      summary: "The metadata of a file.",
      ...oneFileParameters(place),
      answer: fileObject,
      notFound,
      relays: true,
    },
    surface: sharedSurface,
    access: "token",
    handle: (call, { files }: FileServices) => files.get(oneFileCall(place, call)),
  });

export const downloadFileRoute = (place: FilePlace) =>
  platformRoute({
    contract: {
      path: `${place.path}/{file_id}/content`,
      operationId: `download${place.name}File`,
      tag,
      summary: "The bytes of a file, or a range of them.",
      ...oneFileParameters(place),
      answer: file,
      media: "application/octet-stream",
      notFound,
      relays: true,
    },
    surface: sharedSurface,
    access: "token",
    handle: (call, { files }: FileServices) => files.download(oneFileCall(place, call)),
  });

export const deleteFileRoute = (place: FilePlace) =>
  platformRoute({
    contract: {
      method: "delete",
      path: `${place.path}/{file_id}`,
      operationId: `delete${place.name}File`,
      tag,
      summary: "Deletes a file.",
      ...oneFileParameters(place),
      answer: deletedFile,
      notFound,
      relays: true,
    },
    surface: sharedSurface,
    access: "token",
    handle: (call, { files }: FileServices) => files.delete(oneFileCall(place, call)),
  });
