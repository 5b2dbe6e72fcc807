import type { UpstreamFiles, UpstreamOperation } from "../provider.ts";
import { isMessagesFailure } from "../shared/messages-usage.ts";
import { filesOperation } from "../shared/files.ts";

const operation: UpstreamOperation = {
  ...filesOperation,
  path: "/v1/files",
  forwardedHeaders: ["anthropic-version", "anthropic-beta"],
  isFailure: isMessagesFailure,
};

/** Anthropic gives out the bytes of files alone that its tools have made. */
export const files: UpstreamFiles = {
  operation,
  download: { ...operation, forwardedHeaders: ["anthropic-version", "anthropic-beta", "range", "if-range"] },
  surface: "anthropic",
  isDefault: true,
  pagesBy: "page",
  deleted: (id) => ({ id, type: "file_deleted" }),
  expiryField: "expires_at",
  refusedFields: {},
};
