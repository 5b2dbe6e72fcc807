import { z } from "zod";

declare const opaque: unique symbol;

/**
 * A string of a measured member as the parser leaves it: read bytewise, a long one cut. Reading such a body costs a fraction
 * of decoding it, but nothing may be made of the text: only `SizeOf` takes one.
 */
export interface OpaqueText {
  readonly [opaque]: true;
}

/** At most how many bytes of UTF-8 a string of a measured member has. */
export type SizeOf = (text: OpaqueText) => number;

/** The schema of a string within a measured member. */
export const opaqueText: z.ZodType<OpaqueText, string> = z.string() as unknown as z.ZodType<OpaqueText, string>;

export function isOpaqueText(value: unknown): value is OpaqueText {
  return typeof value === "string";
}

/** Text to be measured: a value of a measured member as JSON, or text that was decoded. */
export function asOpaque(text: string): OpaqueText {
  return text as unknown as OpaqueText;
}

/** A measure of opaque text, from one of the characters that stand for it. */
export function sizeOfBy(measure: (text: string) => number): SizeOf {
  return measure as unknown as SizeOf;
}
