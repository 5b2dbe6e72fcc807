import type { UpstreamFiles, UpstreamOperation } from "../provider.ts";

/** The requests for files. They are free, and read no usage. */
export const filesOperation: UpstreamOperation = {
  path: "/files",
  edits: () => [],
  readUsage: () => undefined,
  isFailure: ({ id, error }) => id === undefined && error !== undefined && error !== null,
};

/** The pages and deletions of OpenAI's API, which others have too. */
export const asOpenai: Pick<UpstreamFiles, "surface" | "pagesBy" | "deleted"> = {
  surface: "openai",
  pagesBy: "after",
  deleted: (id) => ({ id, object: "file", deleted: true }),
};

/** OpenAI's files. */
export function openaiFiles(isDefault: boolean): UpstreamFiles {
  return {
    ...asOpenai,
    operation: filesOperation,
    download: { ...filesOperation, forwardedHeaders: ["range", "if-range"] },
    isDefault,
    expiryField: "expires_at",
    refusedFields: {},
  };
}
