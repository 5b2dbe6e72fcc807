import { objectOf, type RequestFeature } from "../core/index.ts";

/** Reads what a body asks for, from the members of its dialect for a format and for the effort of thinking. */
export function askedFeatures({ format, effort }: { format: unknown; effort: unknown }): RequestFeature[] {
  const type = objectOf(format)?.["type"];
  return [
    ...(typeof type === "string" && type !== "text" ? (["format"] as const) : []),
    ...(typeof effort === "string" && effort !== "none" ? (["effort"] as const) : []),
  ];
}
