import { type JsonObject, listOf, objectOf, type ObjectReader, ReferenceList } from "../../core/index.ts";
import type { GeminiRequest } from "./request.ts";

/** Files of Google's, by their names or their addresses, and prompts that it stores. */
export const geminiObjects: ObjectReader<GeminiRequest> = {
  references(body) {
    const list = new ReferenceList();
    for (const name of ["cachedContent", "cached_content"]) list.add("cache", body[name], "cachedContent");
    for (const name of ["systemInstruction", "system_instruction"]) addFiles(list, body[name]);
    addFiles(list, body.contents);
    return list.all;
  },
  created: () => undefined,
};

/** Arguments and results of functions are the caller's own objects, of any names. */
const opaque: ReadonlySet<string> = new Set(["args", "response"]);

/** The files of contents, of their parts, and of the results among these; by every spelling, since Google may read any. */
function addFiles(list: ReferenceList, value: unknown): void {
  if (Array.isArray(value)) {
    for (const one of listOf(value)) addFiles(list, one);
    return;
  }
  const object: JsonObject = objectOf(value) ?? {};
  for (const name in object) {
    const member = object[name];
    const isFile = name === "fileUri" || name === "file_uri";
    if (isFile && !(typeof member === "string" && isNobodys(member)))
      list.add("file", typeof member === "string" ? member : "", "contents.parts.fileData.fileUri");
    else if (typeof member === "object" && !opaque.has(name)) addFiles(list, member);
  }
}

/**
 * Whether Google fetches an address as anybody could: a host is in it as plain as browsers write it, and is none of Google's stores.
 * Everything else counts as stored, since who can tell what Google takes it for; a long address is cut here.
 */
function isNobodys(uri: string): boolean {
  const [, host] = /^https?:\/\/([a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d+)?(?:[/?#]|$)/i.exec(uri) ?? [];
  return host !== undefined && !stores.test(host);
}

const stores = /(?:^|\.)(?:googleapis\.com|storage\.cloud\.google\.com)\.?$/i;
