import { anthropicRows } from "./anthropic.ts";
import { byteplusRows } from "./byteplus.ts";
import { googleRows } from "./google.ts";
import { openaiRows } from "./openai.ts";
import { otherRows } from "./others.ts";
import { xaiRows } from "./xai.ts";

export { type FactRow, factsFrom, isAbout } from "./row.ts";

/**
 * The limits of the models of each upstream, by its kind or preset: the one table that every path reads. The simulators enforce
 * it from tables of their own, and a test compares both.
 */
export const factRows = {
  openai: openaiRows,
  google: googleRows,
  xai: xaiRows,
  anthropic: anthropicRows,
  byteplus: byteplusRows,
  ...otherRows,
};
