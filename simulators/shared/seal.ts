import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";

import { parseJson } from "./json.ts";

/**
 * Opaque texts that only their maker can read back, like the signatures and the encrypted reasoning of real providers:
 * the same payload always gives the same text, and one altered character, or another provider's text, does not open.
 */
export interface Seal {
  close(payload: unknown): string;
  /** The payload; undefined if the text is not ours or was altered. */
  open(text: unknown): unknown;
}

const macBytes = 16;

/** The seal of one provider for one purpose. Its texts begin with the prefix, in whole groups of base64. */
export function sealOf(owner: string, prefix = ""): Seal {
  const key = createHmac("sha256", "simulated seal").update(owner).digest();
  const macOf = (plain: Buffer): Buffer => createHmac("sha256", key).update(plain).digest().subarray(0, macBytes);
  const close = (payload: unknown): string => {
    const plain = Buffer.from(JSON.stringify(payload));
    const mac = macOf(plain);
    const hidden = createCipheriv("aes-256-ctr", key, mac).update(plain);
    return prefix + Buffer.concat([mac, hidden]).toString("base64");
  };
  const open = (text: unknown): unknown => {
    if (typeof text !== "string" || !text.startsWith(prefix)) return undefined;
    const bytes = Buffer.from(text.slice(prefix.length), "base64");
    if (bytes.length <= macBytes) return undefined;
    const mac = bytes.subarray(0, macBytes);
    const payload = parseJson(createDecipheriv("aes-256-ctr", key, mac).update(bytes.subarray(macBytes)).toString());
    // Closing it again also refuses base64 that was written in another way.
    return payload !== undefined && close(payload) === text ? payload : undefined;
  };
  return { close, open };
}
