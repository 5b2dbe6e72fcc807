import { asArray, asObject, type JsonObject } from "../shared/json.ts";
import { firstWords } from "../shared/words.ts";

const citedWordsMax = 8;

/** One citation of each document that may be cited: of its characters, its first page, or its first block. */
export function citationsOf(body: JsonObject): JsonObject[] {
  const blocks = asArray(body["messages"]).flatMap((message) => asArray(asObject(message)["content"]).map(asObject));
  return blocks
    .filter((block) => block["type"] === "document")
    .map((block, index) => ({ block, index }))
    .filter(({ block }) => asObject(block["citations"])["enabled"] === true)
    .map(({ block, index }) => cite(block, index));
}

function cite(document: JsonObject, index: number): JsonObject {
  const source = asObject(document["source"]);
  const named = { document_index: index, document_title: document["title"] ?? null, file_id: null };
  if (source["type"] === "text") {
    const cited = firstWords(String(source["data"]), citedWordsMax);
    const start = String(source["data"]).indexOf(cited);
    const place = { start_char_index: start, end_char_index: start + cited.length };
    return { type: "char_location", cited_text: cited, ...named, ...place };
  }
  if (source["type"] === "content") {
    return { type: "content_block_location", cited_text: "", ...named, start_block_index: 0, end_block_index: 1 };
  }
  return { type: "page_location", cited_text: "", ...named, start_page_number: 1, end_page_number: 2 };
}
