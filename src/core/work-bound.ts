import type { ImageVariant, Usage } from "./usage.ts";

/** Everything that bounds the cost of a request, as known from its body before it is sent. */
export interface WorkBound {
  /** The maximum number of input tokens. */
  inputTokens: number;
  /** The maximum number of output tokens per choice, or undefined if the body sets no limit. */
  outputTokens: number | undefined;
  /** How many answers are requested. */
  choices: number;
  /** How many inputs the model reads separately, so that each may fill its context window. Absent: one. */
  inputs?: number;
  /**
   * The expected input, by bucket: tokens, if the body determines them better than its byte count, and the other units
   * for which `inputUnits` is only a bound.
   */
  expectedInput?: Usage;
  /** The number of input parts of unknown size, and how many of `inputTokens` are held for them. */
  unsizedParts?: { parts: number; tokens: number };
  /**
   * The maximum of input in units other than tokens (images, characters, milliseconds of audio). It is charged if
   * neither the upstream nor `expectedInput` contains a figure.
   */
  inputUnits?: Usage;
  /** The maximum number of output images, and their variant if the body determines it. */
  outputImages?: { count: number; variant: ImageVariant | undefined };
}
