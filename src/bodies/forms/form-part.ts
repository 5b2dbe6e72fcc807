import type { ScannedPart } from "./form-scanner.ts";
import type { Spool } from "./spool.ts";

/** One part of a form. */
export interface FormPart {
  readonly name: string;
  /** Present if the part is a file. */
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
  /** The number of bytes of its content. */
  readonly size: number;
  /** The content of a part that is not a file. */
  readonly text: string | undefined;
}

/** A part and its position in the body. */
export interface PlacedPart {
  readonly part: FormPart;
  readonly scanned: ScannedPart;
}

/** The source of a form. */
export interface FormSource {
  readonly contentType: string;
  readonly boundary: string;
  readonly spool: Spool;
  readonly placed: readonly PlacedPart[];
}
