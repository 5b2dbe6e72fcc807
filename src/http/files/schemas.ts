import { z } from "@hono/zod-openapi";
import { file, partNames } from "../contract.ts";

/** A file's metadata, as its provider sends it. */
export const fileObject = z
  .looseObject({ id: z.string() })
  .describe(
    "A file, as its provider sends it: bytes, created_at, filename, purpose, status and others; Anthropic's in its format.",
  )
  .meta({ id: "File" });

export const fileList = z
  .looseObject({
    data: z.array(z.looseObject({ id: z.string() })).describe("The caller's own files."),
    first_id: z.string().nullable().optional(),
    last_id: z.string().nullable().optional(),
    has_more: z.boolean().optional(),
    next_page: z.string().nullable().optional().describe("Anthropic's, in the place of the three before."),
  })
  .describe("A page of files. `object` is the provider's: `list` at OpenAI, `file` at BytePlus.")
  .meta({ id: "FileList" });

export const deletedFile = z
  .looseObject({ id: z.string() })
  .describe("`object: file` and `deleted: true`; at Anthropic `type: file_deleted`.");

export const uploadForm = z
  .looseObject({
    file: file.describe("The file."),
    purpose: z.string().describe("The provider's own: user_data, vision, batch …; Anthropic has none."),
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
  after: z
    .string()
    .optional()
    .describe("The id of the file before the page; one of the caller's own. Anthropic's is `page`."),
};

export const providerQuery = {
  provider: z
    .string()
    .optional()
    .describe("A provider's prefix. By default the first of OpenAI's kind, with `anthropic-version` of Anthropic's."),
};
