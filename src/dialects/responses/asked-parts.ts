import { type JsonObject, objectsOf, type RequestFeature } from "../../core/index.ts";
import { isOwnSignature } from "../conversation/index.ts";

/** The features of a body that are in its items and its tools. Long strings in it may be truncated. */
export function askedParts({ input, tools }: JsonObject, origin: string): RequestFeature[] {
  const asked = new Set<RequestFeature>();
  for (const item of Array.isArray(input) ? objectsOf(input) : []) {
    if (hasFile(item["content"]) || hasFile(item["output"])) asked.add("documents");
    if (isOwnSignature(item["encrypted_content"], origin)) asked.add("signature");
  }
  const types = objectsOf(tools).map(({ type }) => String(type));
  if (types.length > 0 && types.every((type) => type.startsWith("web_search"))) asked.add("search");
  if (types.includes("image_generation")) asked.add("pictures");
  return [...asked];
}

function hasFile(content: unknown): boolean {
  return Array.isArray(content) && objectsOf(content).some(({ type }) => type === "input_file");
}
