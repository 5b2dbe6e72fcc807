import { asOpaque, type SizeOf, sizeOfBy } from "./opaque-text.ts";

/** The size of text that has been decoded, as a form's fields have. */
export const decodedSizeOf: SizeOf = sizeOfBy((text) => Buffer.byteLength(text));

/** Measures a request, and notes what of it only a bound is known of. */
export class Measure {
  readonly sizeOf: SizeOf;
  /** The parts whose size is not known, and the tokens that the bound holds for them. */
  readonly unsizedParts = { parts: 0, tokens: 0 };

  constructor(sizeOf: SizeOf) {
    this.sizeOf = sizeOf;
  }

  /** A part that may be as many tokens. */
  capAt(tokens: number): number {
    this.unsizedParts.parts += 1;
    this.unsizedParts.tokens += tokens;
    return tokens;
  }
}

/** Base64 or a `data:` URL, not an address to fetch from: some upstreams take either in the same field. */
export function isData(value: unknown): boolean {
  return typeof value === "string" && !/^\s*[a-z][a-z0-9+.-]*:\/\//i.test(value);
}

/** Bytes of a value as JSON; none for what is not there. */
export function jsonBytes(value: unknown, { sizeOf }: Measure): number {
  return value === undefined || value === null ? 0 : sizeOf(asOpaque(JSON.stringify(value)));
}
