import { createHash } from "node:crypto";

const SHORT = /^[a-zA-Z0-9]{9}$/;

/** The id itself where it is nine letters and digits, else nine that always stand for it: call and result still meet. */
export function shortCallId(id: string): string {
  if (SHORT.test(id)) return id;
  const digits = createHash("sha256").update(id).digest().readUIntBE(0, 6).toString(36);
  return digits.padStart(9, "0").slice(-9);
}
