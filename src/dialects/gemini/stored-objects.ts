import { type JsonObject, listOf, objectOf, type ObjectReader, ReferenceList } from "../../core/index.ts";
import { inCamel } from "./camel.ts";
import type { GeminiRequest } from "./request.ts";

/** Files of Google's, by their names or their addresses, and prompts that it stores. */
export const geminiObjects: ObjectReader<GeminiRequest> = {
  references(body) {
    const list = new ReferenceList();
    const { cachedContent, systemInstruction } = inCamel(body);
    list.add("cache", cachedContent, "cachedContent");
    for (const content of [systemInstruction, body.contents].flat()) addParts(list, objectOf(content)?.["parts"]);
    return list.all;
  },
  created: () => undefined,
};

/** A file at any other address is nobody's here: the upstream fetches it. */
const stored = /^(?:files\/|gs:|https:\/\/(?:[a-z0-9-]+\.)*googleapis\.com\/)/i;

function addParts(list: ReferenceList, parts: unknown): void {
  for (const value of Array.isArray(parts) ? listOf(parts) : [parts]) {
    const part: JsonObject = inCamel(objectOf(value) ?? {});
    const { fileUri } = inCamel(objectOf(part["fileData"]) ?? {});
    if (typeof fileUri === "string" && stored.test(fileUri))
      list.add("file", fileUri, "contents.parts.fileData.fileUri");
    const nested = objectOf(part["functionResponse"])?.["parts"];
    if (nested !== undefined) addParts(list, nested);
  }
}
