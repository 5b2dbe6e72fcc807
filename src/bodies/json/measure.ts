import { asOpaque, type SizeOf, sizeOfBy } from "./opaque-text.ts";

/** The size of decoded text, such as a form's fields. */
export const decodedSizeOf: SizeOf = sizeOfBy((text) => Buffer.byteLength(text));

/** Measures a request, and records the parts of which only a bound is known. */
export class Measure {
  readonly sizeOf: SizeOf;
  /** The number of parts of unknown size, and the tokens that the bound holds for them. */
  readonly unsizedParts = { parts: 0, tokens: 0 };

  constructor(sizeOf: SizeOf) {
    this.sizeOf = sizeOf;
  }

  /** A part that may have this many tokens. */
  capAt(tokens: number): number {
    this.unsizedParts.parts += 1;
    this.unsizedParts.tokens += tokens;
    return tokens;
  }
}

/** Base64 or a `data:` URL rather than a URL to fetch: some upstreams accept either in the same field. */
export function isData(value: unknown): boolean {
  return typeof value === "string" && !/^\s*[a-z][a-z0-9+.-]*:\/\//i.test(value);
}

/** The bytes of a value as JSON; zero if it is undefined. */
export function jsonBytes(value: unknown, { sizeOf }: Measure): number {
  return value === undefined || value === null ? 0 : sizeOf(asOpaque(JSON.stringify(value)));
}
