import { invalidPart } from "./refusals.ts";

/**
 * A plain field must be the only one with its name: of two, some readers take the first, some the last, some both. Some
 * ignore the case of names, some take `n[]` for `n`. Fields with brackets are lists and may repeat, and so may files.
 */
export function checkNames(parts: readonly { readonly name: string; readonly filename: string | undefined }[]): void {
  const single = new Set<string>();
  const several = new Set<string>();
  for (const { name, filename } of parts) {
    const [key = ""] = name.toLowerCase().split("[", 1);
    const isSingle = filename === undefined && !name.includes("[");
    if (single.has(key) || (isSingle && several.has(key))) {
      throw invalidPart(name, "is there twice; a list's name ends with brackets.");
    }
    (isSingle ? single : several).add(key);
  }
}
