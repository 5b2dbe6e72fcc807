import type { CallFile } from "../../../core/index.ts";

/** A PNG of one pixel. */
export const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A form's file with a general content type. */
export function imageFile(field: string, base64 = pixel): CallFile {
  const bytes = Buffer.from(base64, "base64");
  return {
    field,
    filename: "picture.png",
    contentType: "application/octet-stream",
    size: bytes.length,
    milliseconds: undefined,
    read: async () => bytes,
  };
}
