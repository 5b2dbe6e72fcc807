import { type JsonObject, objectOf, objectsOf, type RequestFeature } from "../../core/index.ts";
import { isOwnSignature } from "../conversation/index.ts";

/** The features of a body that are in its messages and its tools. Long strings in it may be truncated. */
export function askedParts({ messages, tools }: JsonObject, origin: string): RequestFeature[] {
  const asked = new Set<RequestFeature>();
  for (const message of objectsOf(messages)) readBlocks(message["content"], origin, asked);
  const offered = objectsOf(tools);
  const searches = offered.filter(({ type }) => typeof type === "string" && /^web_search_\d/.test(type));
  if (searches.length > 0 && searches.length === offered.length) asked.add("search");
  return [...asked];
}

function readBlocks(content: unknown, origin: string, asked: Set<RequestFeature>): void {
  if (!Array.isArray(content)) return;
  for (const block of objectsOf(content)) {
    const { type } = block;
    if (type === "document" && !isText(objectOf(block["source"]) ?? {})) asked.add("documents");
    else if (type === "tool_result") readBlocks(block["content"], origin, asked);
    else if (isOwnSignature(type === "redacted_thinking" ? block["data"] : block["signature"], origin))
      asked.add("signature");
  }
}

function isText({ type, media_type: mediaType }: JsonObject): boolean {
  return type === "text" || type === "content" || (typeof mediaType === "string" && mediaType.startsWith("text/"));
}
