import { z } from "@hono/zod-openapi";
import { sharedSurface } from "../../core/index.ts";
import type { FileCall, FileService, OneFileCall } from "../../files/index.ts";
import { partNames } from "../contract.ts";
import type { RouteCall } from "../route.ts";
import { filePath, providerPath, providerQuery, providerUploadForm, uploadForm } from "./schemas.ts";

/** The path of the same routes: `/v1/files`, or a provider's prefix. */
export interface FilePlace {
  path: string;
  /** A part of the names of operations. */
  name: string;
  /** The form of an upload. */
  form: z.ZodObject;
  /** The provider, if it is in the path. */
  pathParameters: { provider?: z.ZodString };
  /** The provider, if it is in the query. */
  queryParameters: { provider?: z.ZodOptional<z.ZodString> };
}

export interface FileServices {
  files: FileService;
}

export const inQuery: FilePlace = {
  path: "/v1/files",
  name: "",
  form: uploadForm.extend(providerQuery).meta(partNames),
  pathParameters: {},
  queryParameters: providerQuery,
};

export const inPath: FilePlace = {
  path: "/v1/{provider}/files",
  name: "Provider",
  form: providerUploadForm,
  pathParameters: providerPath,
  queryParameters: {},
};

export const tag = "Files";
export const notFound = "The caller has no such file, or the provider has no such route.";

export function fileCall({ pathParameters }: FilePlace, call: RouteCall): FileCall {
  const prefix = pathParameters.provider === undefined ? undefined : call.pathParameter("provider");
  return { ...call, prefix, surface: sharedSurface(call.request.headers) };
}

export function oneFileCall(place: FilePlace, call: RouteCall): OneFileCall {
  return { ...fileCall(place, call), id: call.pathParameter("file_id") };
}

/** The parameters of the routes of one file. */
export function oneFileParameters({ pathParameters, queryParameters }: FilePlace) {
  return { params: z.object({ ...pathParameters, ...filePath }), query: z.object(queryParameters) };
}
