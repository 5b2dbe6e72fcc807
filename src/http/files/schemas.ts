import { z } from "@hono/zod-openapi";
import { file, partNames } from "../contract.ts";

/** A file's metadata, as its provider sends it. */
export const fileObject = z
  .looseObject({ id: z.string(), object: z.literal("file") })
  .describe("A file, as its provider sends it: bytes, created_at, filename, purpose, status and others.")
  .meta({ id: "File" });

export const fileList = z
  .looseObject({
    data: z.array(z.looseObject({ id: z.string() })).describe("The caller's own files."),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })
  .describe("A page of files. `object` is the provider's: `list` at OpenAI, `file` at BytePlus.")
  .meta({ id: "FileList" });

export const deletedFile = z.object({ id: z.string(), object: z.literal("file"), deleted: z.literal(true) });

export const uploadForm = z
  .looseObject({
    file: file.describe("The file."),
    purpose: z.string().describe("The provider's own: user_data, vision, batch …"),
  })
  .meta(partNames);

export const providerUploadForm = uploadForm
  .extend({ file: file.optional().describe("The file, or a `url` if the provider fetches files from one.") })
  .meta(partNames);

/** The path parameters of each place. */
export const providerPath = { provider: z.string().describe("A provider's prefix.") };
export const filePath = { file_id: z.string().describe("A file's id.") };

/** Parameters of the list. The upstream gets the query unchanged. */
export const listQuery = {
  purpose: z.string().optional(),
  limit: z
    .string()
    .regex(/^[1-9]\d{0,3}$/)
    .optional()
    .describe("Files on the page; the provider's own default."),
  order: z.enum(["asc", "desc"]).optional().describe("By the time of creation."),
  after: z.string().optional().describe("The id of the file before the page; one of the caller's own."),
};

export const providerQuery = {
  provider: z.string().optional().describe("A provider's prefix. By default the first of OpenAI's kind."),
};
