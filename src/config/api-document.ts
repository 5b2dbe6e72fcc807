import { statSync } from "node:fs";
import { type JsonObject, objectOf } from "../core/index.ts";
import { ConfigError } from "./values/interpolate.ts";
import { parseYaml, readText } from "./yaml.ts";

const BYTES_MAX = 5 * 1024 * 1024;

/** The OpenAPI document in a file, as JSON or YAML. Throws a `ConfigError` with the path of the setting. */
export function readApiDocument(file: string, path: string): JsonObject {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > BYTES_MAX) throw new ConfigError(path, `the file ${file} is larger than 5 MiB`);
  const text = readText(file);
  const document = objectOf(text.trimStart().startsWith("{") ? parsedJson(text) : parseYaml(text, file));
  if (document === undefined || !String(document["openapi"]).startsWith("3."))
    throw new ConfigError(path, `the file ${file} is no OpenAPI document of version 3`);
  return document;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
