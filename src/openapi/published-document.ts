import { readFile } from "node:fs/promises";
import { parseObject } from "../core/index.ts";
import { addressesOf, type DocumentAddresses } from "./addresses.ts";

/** Generated with `openapiDocument`, and checked for drift: generating it takes a third of a server's start. */
const file = new URL("../../openapi.json", import.meta.url);

/**
 * Returns a function that resolves with the published document, as the text of its JSON, with this service's addresses.
 * The file is read by the first call.
 */
export function publishedDocument(addresses: DocumentAddresses): () => Promise<string> {
  let text: Promise<string> | undefined;
  return () => (text ??= readDocument(addresses));
}

async function readDocument(addresses: DocumentAddresses): Promise<string> {
  const published = parseObject(await readFile(file, "utf8"));
  return JSON.stringify({ ...published, servers: addressesOf(addresses) });
}
