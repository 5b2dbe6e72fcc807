/** The form of `POST /v2/parse`: a file, and options as JSON. */
import { z } from "zod";
import type { FormBody } from "../../bodies/index.ts";
import { GatewayError, type JsonObject, parseObject } from "../../core/index.ts";
import type { SentFile } from "../engine.ts";

export const parseForm = z.looseObject({
  options: z
    .string()
    .optional()
    .describe("Options of a scrape as JSON, but those that need a browser, and changeTracking."),
});

/** Throws 422 for options that are no object. */
export function optionsOf({ options }: JsonObject): JsonObject {
  if (options === undefined) return {};
  const read = typeof options === "string" ? parseObject(options) : undefined;
  if (read !== undefined) return read;
  throw new GatewayError("validation_failed", "options: no JSON object", { param: "options" });
}

/** The form's file, which the form requires. */
export function sentFile({ files }: FormBody<JsonObject>): SentFile {
  const file = files.find(({ field }) => field === "file");
  if (file === undefined) throw new Error("the form has no file");
  const { filename: name, contentType: mediaType, size } = file;
  return { name, mediaType, size, read: () => file.read() };
}
