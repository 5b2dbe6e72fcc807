import type { UpstreamFiles } from "../provider.ts";
import { asOpenai, filesOperation } from "../shared/files.ts";

/** A file has a `download_url` instead of a route for its bytes. */
export const files: UpstreamFiles = {
  ...asOpenai,
  operation: filesOperation,
  isDefault: false,
  expiryField: "expire_at",
  urlField: "url",
  refusedFields: { tos: "it names a store of the operator's account" },
};
