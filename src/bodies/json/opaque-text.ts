import { z } from "zod";

declare const opaque: unique symbol;

/**
 * A string of an opaque field as the parser leaves it: read as Latin-1, and truncated if long. Such a body costs a
 * fraction of decoding it, but the text must not be used: only `SizeOf` accepts it.
 */
export interface OpaqueText {
  readonly [opaque]: true;
}

/** An upper bound of the bytes of UTF-8 of a string in an opaque field. */
export type SizeOf = (text: OpaqueText) => number;

/** The schema of a string within an opaque field. */
export const opaqueText: z.ZodType<OpaqueText, string> = z.string() as unknown as z.ZodType<OpaqueText, string>;

export function isOpaqueText(value: unknown): value is OpaqueText {
  return typeof value === "string";
}

/** Text to be measured: a value of an opaque field as JSON, or decoded text. */
export function asOpaque(text: string): OpaqueText {
  return text as unknown as OpaqueText;
}

/** A measure of opaque text, given a measure of its remaining characters. */
export function sizeOfBy(measure: (text: string) => number): SizeOf {
  return measure as unknown as SizeOf;
}
