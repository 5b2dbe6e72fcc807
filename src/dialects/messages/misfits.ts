import { type JsonObject, type ModelFacts, objectOf } from "../../core/index.ts";

/** As `misfitsChat`. */
export function misfitsMessages({ output_config: config }: JsonObject, facts: ModelFacts): boolean {
  return facts.formats === "none" && objectOf(objectOf(config)?.["format"]) !== undefined;
}
