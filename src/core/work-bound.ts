import type { ImageVariant, Usage } from "./usage.ts";

/** What a dialect knows of a request body before it is sent: everything that bounds its cost. */
export interface WorkBound {
  /** Tokens that can go in. */
  inputTokens: number;
  /** Tokens that can come out per choice, or undefined where the body sets no limit. */
  outputTokens: number | undefined;
  /** How many answers are asked for. */
  choices: number;
  /** How many inputs are read each by itself, so that each may fill the model's context window; one where left out. */
  inputs?: number;
  /**
   * Tokens that are likely to go in, by kind, where the body tells them better than its bytes do; and of other units those
   * of which `inputUnits` is only a bound.
   */
  expectedInput?: Usage;
  /** Parts of the input whose size the request doesn't tell, and how many of `inputTokens` are held for them. */
  unsizedParts?: { parts: number; tokens: number };
  /**
   * What goes in by other units than tokens (images, characters, milliseconds of sound): the most, and what is charged
   * where neither the upstream nor `expectedInput` names a figure.
   */
  inputUnits?: Usage;
  /** Images that can come out, and of which variant where the body tells. */
  outputImages?: { count: number; variant: ImageVariant | undefined };
}
