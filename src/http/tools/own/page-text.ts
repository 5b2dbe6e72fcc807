import { type JsonObject, objectOf, stringOf } from "../../../core/index.ts";

/** A page for a reader: its title, its address, and its text; for one without a text, its members. */
export function textOfPage(page: JsonObject): string {
  const { title, url, description, markdown, metadata, ...rest } = page;
  const about = objectOf(metadata) ?? {};
  const head = [title ?? about["title"], url ?? about["sourceURL"]].map(stringOf).filter((line) => line !== "");
  const others = Object.keys(rest).length > 0 ? JSON.stringify(rest) : "";
  return [...head, stringOf(markdown) || stringOf(description) || others].join("\n");
}
