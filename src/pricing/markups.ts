import { matchesGlob, parseMarkup } from "../core/index.ts";

/** The factor on a model's price, in millionths, by the model id with its prefix. */
export type MarkupOf = (modelId: string) => bigint;

/**
 * Reads `pricing.markups`: factors by model id, in which `*` matches any characters. The last match counts; a model that
 * none matches has the factor `otherwise`.
 */
export function markupsOf(markups: Readonly<Record<string, number>>, otherwise: number): MarkupOf {
  const factors = Object.entries(markups).map(([glob, factor]) => ({ glob, millionths: parseMarkup(factor) }));
  const usual = parseMarkup(otherwise);
  return (modelId) => factors.findLast(({ glob }) => matchesGlob(glob, modelId))?.millionths ?? usual;
}
