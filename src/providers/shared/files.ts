import type { UpstreamFiles, UpstreamOperation } from "../provider.ts";

/** The requests for files. They are free, and read no usage. */
export const filesOperation: UpstreamOperation = {
  path: "/files",
  edits: () => [],
  readUsage: () => undefined,
  isFailure: ({ id, error }) => id === undefined && error !== undefined && error !== null,
};

/** OpenAI's files. */
export function openaiFiles({ isDefault }: Pick<UpstreamFiles, "isDefault">): UpstreamFiles {
  return {
    operation: filesOperation,
    download: { ...filesOperation, forwardedHeaders: ["range", "if-range"] },
    isDefault,
    expiryField: "expires_at",
    refusedFields: {},
  };
}
