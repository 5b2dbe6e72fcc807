import { createHash } from "node:crypto";

/** In hexadecimal digits, by which large bytes are compared without being printed. */
export function sha256(bytes: Uint8Array | ArrayBuffer): string {
  return createHash("sha256").update(new Uint8Array(bytes)).digest("hex");
}
