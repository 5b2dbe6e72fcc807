import { readFile } from "node:fs/promises";
import { listOf, objectOf, parseObject } from "../core/index.ts";
import { addressesOf, type DocumentAddresses } from "./addresses.ts";

/** Generated with `openapiDocument`, and checked for drift: generating it takes a third of a server's start. */
const file = new URL("../../openapi.json", import.meta.url);

interface PublishedOptions extends DocumentAddresses {
  /** The prefixes that the enum of `provider` lists at the video routes, if there are any. */
  videoProviders: readonly string[];
}

/**
 * Returns a function that resolves with the published document, as the text of its JSON, with this service's addresses
 * and prefixes. The file is read by the first call.
 */
export function publishedDocument(options: PublishedOptions): () => Promise<string> {
  let text: Promise<string> | undefined;
  return () => (text ??= readDocument(options));
}

async function readDocument({ videoProviders, ...addresses }: PublishedOptions): Promise<string> {
  const published = parseObject(await readFile(file, "utf8")) ?? {};
  const paths = objectOf(published["paths"]) ?? {};
  for (const [path, operations] of Object.entries(paths)) {
    if (path.startsWith("/v1/videos") && videoProviders.length > 0) listProviders(operations, videoProviders);
  }
  return JSON.stringify({ ...published, servers: addressesOf(addresses) });
}

function listProviders(operations: unknown, prefixes: readonly string[]): void {
  for (const operation of Object.values(objectOf(operations) ?? {})) {
    for (const parameter of listOf(objectOf(operation)?.["parameters"]).map(objectOf)) {
      const schema = objectOf(parameter?.["schema"]);
      if (parameter?.["name"] === "provider" && schema !== undefined) Object.assign(schema, { enum: prefixes });
    }
  }
}
