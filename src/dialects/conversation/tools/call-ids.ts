import { createHash } from "node:crypto";

const SHORT = /^[a-zA-Z0-9]{9}$/;
const PLAIN = /^[a-zA-Z0-9_-]+$/;

/**
 * The id itself if it is nine letters and digits, else a fixed nine-character substitute: call and result still match.
 */
export function shortCallId(id: string): string {
  return SHORT.test(id) ? id : digest(id);
}

/** The id itself if it is letters, digits, `_` and `-`, else a fixed substitute. */
export function plainCallId(id: string): string {
  return PLAIN.test(id) ? id : `${id.replaceAll(/[^a-zA-Z0-9_-]/g, "_")}_${digest(id)}`;
}

function digest(id: string): string {
  const digits = createHash("sha256").update(id).digest().readUIntBE(0, 6).toString(36);
  return digits.padStart(9, "0").slice(-9);
}
