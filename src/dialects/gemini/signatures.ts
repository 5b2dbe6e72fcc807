import { objectOf, parseObject, stringOf } from "../../core/index.ts";
import { type Signature, tagAsBytes, untagBytes } from "../conversation/index.ts";

/** Signatures are bytes in base64 here, which SDKs decode. */
export function writeSignature(signature: Signature, use: "thought" | "call"): string {
  return tagAsBytes(signature, use, "gemini");
}

export function readSignature(text: string): Signature {
  return untagBytes(text, "gemini");
}

/** A signature of Google's as its own API has it: its chat endpoint puts it into an object. */
export function plainSignature({ value }: Signature): string {
  if (!value.startsWith("{")) return value;
  const google = objectOf(objectOf(parseObject(value)?.["extra_content"] ?? parseObject(value))?.["google"]);
  return stringOf(google?.["thought_signature"]) || value;
}
