import { readFileSync } from "node:fs";
import { parseDocument } from "yaml";
import { ConfigError } from "./values/interpolate.ts";

/** The maximum number of nodes that aliases may expand to. A configuration has a handful; a YAML bomb has millions. */
const ALIAS_COUNT_MAX = 100;

/** Parses the text of a YAML file as plain values; an empty one is `{}`. Throws a `ConfigError`, one line that names the file. */
export function parseYaml(text: string, file: string): unknown {
  let value: unknown;
  try {
    value = parse(text) ?? {};
  } catch (error) {
    const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    throw new ConfigError("", `${file}: ${line}`);
  }
  const cycle = pathOfCycle(value, [], "");
  if (cycle !== undefined) throw new ConfigError(cycle, "an alias that contains itself");
  return value;
}

/** Throws a `ConfigError` that names the file. */
export function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw new ConfigError("", `cannot read the file ${file}`);
  }
}

function parse(text: string): unknown {
  const document = parseDocument(text, { uniqueKeys: true });
  const [problem] = document.errors;
  if (problem !== undefined) throw problem;
  return document.toJS({ maxAliasCount: ALIAS_COUNT_MAX });
}

/** Finds an alias inside its own anchor, which the library resolves to a cycle: later code would never end. */
function pathOfCycle(value: unknown, above: readonly unknown[], path: string): string | undefined {
  if (value === null || typeof value !== "object") return undefined;
  if (above.includes(value)) return path;
  for (const [key, item] of Object.entries(value)) {
    const cycle = pathOfCycle(item, [...above, value], path === "" ? key : `${path}.${key}`);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}
